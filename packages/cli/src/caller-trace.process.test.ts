// Tests real processes: a caller of `gdn` with its own trace finds the turn in that trace.
import { expect, test } from 'bun:test';
import { openPlace } from './testing/open-place.ts';
import { sampleBundle } from './testing/sample-bundle.ts';

const place = openPlace();

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentSpanId = 'b7ad6b7169203331';
const env = { TRACEPARENT: `00-${traceId}-${parentSpanId}-01` };

test('R-08 run and send use the trace of TRACEPARENT, and ignore a malformed one', async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle() });
  const once = await place.runProcessWith({ env }, 'run', 'bundle', '--trust', '--input', 'one', '--json');
  expect(JSON.parse(once.stdout)).toMatchObject({ traceId, response: 'You said: one' });
  const bad = { TRACEPARENT: 'what is this' };
  const alone = await place.runProcessWith({ env: bad }, 'run', 'bundle', '--trust', '--input', 'two', '--json');
  expect(JSON.parse(alone.stdout)).toMatchObject({ response: 'You said: two' });

  await place.serve('bundle');
  try {
    const sent = await place.runProcessWith({ env }, ...'send --bundle bundle --input three --wait --json'.split(' '));
    expect(JSON.parse(sent.stdout)).toMatchObject({ traceId, response: 'You said: three' });
  } finally {
    await place.run('stop', '--bundle', 'bundle');
  }
  const listed = await place.run('trace', '--bundle', 'bundle', '--json');
  const turns = JSON.parse(listed.stdout) as { input: string; traceId: string; parentSpanId?: string }[];
  expect(turns.map((turn) => [turn.input, turn.traceId === traceId, turn.parentSpanId])).toEqual([
    ['three', true, parentSpanId],
    ['two', false, undefined],
    ['one', true, parentSpanId],
  ]);
});
