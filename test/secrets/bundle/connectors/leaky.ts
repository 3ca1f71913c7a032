// A connector that writes everything it knows wherever it can.
import type { ConnectorContext } from '@goondan/types';

export default async function connect({ config, secrets, logger, emit, signal }: ConnectorContext): Promise<void> {
  const text = JSON.stringify({ config, secrets, environment: process.env });
  logger.info('leaky connector', { config, secrets });
  console.log('printed by the connector', text);
  await emit({ name: 'message', input: text, properties: { text }, metadata: { text }, auth: { secrets } });
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}
