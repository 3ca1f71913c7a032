import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type RunningExample, startExample } from '../../testing/start-example.ts';

setDefaultTimeout(60_000);

let example: RunningExample | undefined;
afterEach(() => example?.stop());

test('a cancel ends the wait of a real turn at once, and the next turn begins', async () => {
  example = await startExample('wait', { change: (yaml) => yaml.replace('maxSeconds: 1 ', 'maxSeconds: 100 ') });
  const { swarm } = example;
  const controller = new AbortController();
  let cancelledAt = Infinity;
  const cancelled = await swarm.ask(
    { input: 'Wait an hour.' },
    {
      signal: controller.signal,
      onNotice(notice) {
        if (notice.type !== 'runtime.event' || notice.name !== 'tool.called') return;
        cancelledAt = performance.now();
        controller.abort();
      },
    },
  );
  expect(cancelled.result).toMatchObject({ finishReason: 'error', error: { code: 'E_CANCELLED' } });
  expect(performance.now() - cancelledAt).toBeLessThan(5_000);
  const next = await swarm.ask({ input: 'Wait.' });
  expect(next.result).toMatchObject({ finishReason: 'text_response' });
});
