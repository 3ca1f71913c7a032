import { expect, test } from 'bun:test';
import { agentLanguage } from '../../ipc/codec.ts';
import { connectInMemory } from '../../testing/connect-in-memory.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { ProcessLog } from './process-log.ts';

async function linesOf(use: (log: ProcessLog) => void) {
  const [parent, child] = connectInMemory(agentLanguage);
  const clock = manualClock();
  const said: FromAgent[] = [];
  parent.onMessage((message) => void said.push(message));
  use(new ProcessLog(child, clock));
  await clock.advance(0);
  await clock.advance(0);
  return said.flatMap((message) => (message.type === 'log' ? [message.line] : []));
}

test('a line has time, level, event and message; secrets are masked in all of them', async () => {
  const lines = await linesOf((log) => {
    log.prepare(['open-sesame-1'], []);
    log.write('warn', 'thing.happened', 'it said open-sesame-1', { key: 'open-sesame-1' });
  });
  const time = '2026-01-01T00:00:00.000Z';
  expect(lines).toEqual([
    { time, level: 'warn', event: 'thing.happened', message: 'it said ***', data: { key: '***' } },
  ]);
});

test('a thrown error is logged with its code and its stack', async () => {
  const thrown = Object.assign(new RangeError('too much'), { code: 'E_ODD' });
  const [line] = await linesOf((log) => log.writeThrown('error', 'thing.failed', 'It failed', thrown));
  expect(line).toMatchObject({
    message: 'It failed: too much',
    data: { code: 'E_ODD', stack: expect.stringContaining('RangeError') },
  });
});

test('data that cannot be sent is left out of the line', async () => {
  let deep: { in?: unknown } = {};
  for (let n = 0; n < 300; n++) deep = { in: deep };
  // The value is nested deeper than a frame allows.
  const lines = await linesOf((log) => log.write('info', 'deep', 'still said', deep as never));
  expect(lines).toEqual([expect.objectContaining({ message: 'still said' })]);
  expect(lines[0]).not.toHaveProperty('data');
});
