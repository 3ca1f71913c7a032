import type { Connector } from '@goondan/types';

/** Emits an event at once, and then at a fixed interval. */
const timer: Connector<{ everySeconds: number }> = async ({ emit, config, signal }) => {
  const tell = () => emit({ name: 'round', input: 'Time for a round.', properties: { building: 'north' } });
  await tell();
  const ticking = setInterval(() => void tell(), config.everySeconds * 1000);
  signal.addEventListener('abort', () => clearInterval(ticking));
};

export default timer;
