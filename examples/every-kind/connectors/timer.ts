import type { Connector } from '@goondan/types';

/** Says that it is time: at once, and then every so often. */
const timer: Connector<{ everySeconds: number }> = async ({ emit, config, signal }) => {
  const tell = () => emit({ name: 'round', input: 'Time for a round.', properties: { building: 'north' } });
  await tell();
  const ticking = setInterval(() => void tell(), config.everySeconds * 1000);
  signal.addEventListener('abort', () => clearInterval(ticking));
};

export default timer;
