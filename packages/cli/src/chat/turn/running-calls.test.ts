import { expect, test } from 'bun:test';
import { RunningCalls } from './running-calls.ts';

test('the line of a tool call that failed names the place', () => {
  const calls = new RunningCalls('host');
  const at = { agent: 'host', instanceKey: 'default' };
  const called = { spanId: 's', toolName: 'dice__roll', args: '{}' };
  const error = {
    ...{ code: 'E_TOOL_FAILED', message: 'sidez is not defined' },
    place: { file: 'tools/dice.ts', line: 3, column: 21 },
  };
  calls.hear({ type: 'runtime.event', at, name: 'tool.called', payload: called }, 0);
  const payload = { ...called, status: 'error', duration: 12, error };
  const [line = []] = calls.hear({ type: 'runtime.event', at, name: 'tool.completed', payload }, 12);
  expect(line.map(({ text }) => text).join('')).toBe(
    '  ✗ dice__roll failed, 12 ms: E_TOOL_FAILED: sidez is not defined (tools/dice.ts:3:21)',
  );
  calls.hear({ type: 'runtime.event', at, name: 'tool.called', payload: called }, 0);
  const [bare = []] = calls.hear(
    { type: 'runtime.event', at, name: 'tool.failed', payload: { ...called, duration: 3 } },
    0,
  );
  expect(bare.map(({ text }) => text).join('')).toEndWith(' dice__roll failed, 3 ms');
});

test('calls beyond the first 1,000 are counted, and have a line when they end', () => {
  const calls = new RunningCalls('host');
  const hear = (name: string, spanId: string, agent = 'host') =>
    calls.hear(
      {
        ...{ type: 'runtime.event', at: { agent, instanceKey: 'default' }, name },
        payload: { spanId, toolName: 'dice__roll', args: '{"sides":6}', duration: 12 },
      },
      0,
    );
  const textOf = ([line]: ReturnType<typeof hear>) => line?.map(({ text }) => text).join('');
  for (let index = 0; index < 1_002; index++) hear('tool.called', `s-${index}`);
  hear('turn.started', 's-other', 'clerk');
  expect(textOf(calls.live(0).slice(-1))).toBe('  … 997 more');
  expect(textOf(hear('tool.completed', 's-0'))).toBe('  ✓ dice__roll {"sides":6} ok, 12 ms');
  expect(textOf(hear('tool.completed', 's-1001'))).toBe('  ✓ dice__roll ok, 12 ms');
  expect(textOf(hear('turn.completed', 's-other', 'clerk'))).toBe('  ✓ clerk ok, 12 ms');
  for (let index = 1; index < 1_001; index++) hear('tool.completed', `s-${index}`);
  expect(calls.live(0)).toEqual([]);
  expect(hear('tool.completed', 'unknown')).toEqual([]);
});

test('the line of a commit that changed nothing has its reason, although its call did not fail', () => {
  const calls = new RunningCalls('host');
  const at = { agent: 'host', instanceKey: 'default' };
  const called = { spanId: 's', toolName: 'bundle__commit', args: '{}' };
  const hear = (name: string, payload: object) =>
    calls.hear({ type: 'runtime.event', at, name, payload: { ...called, ...payload } }, 0);
  const data = { changesetId: 'c1', status: 'rejected', message: 'ann denied the change.' };
  const end = { status: 'ok', duration: 12 };
  const textOf = ([line]: ReturnType<typeof hear>) => line?.map(({ text }) => text).join('');
  hear('tool.called', {});
  expect(hear('changeset.rejected', { data })).toEqual([]);
  expect(textOf(hear('tool.completed', end))).toBe('  ✗ bundle__commit rejected: ann denied the change. (12 ms)');
  hear('tool.called', {});
  hear('changeset.commit', { data });
  expect(textOf(hear('tool.completed', end))).toBe('  ✓ bundle__commit ok, 12 ms');
});

test('what a call causes is below the call, while it runs and after it', () => {
  const calls = new RunningCalls('host');
  const hear = (name: string, agent: string, payload: object) =>
    calls
      .hear(
        { type: 'runtime.event', at: { agent, instanceKey: 'default' }, name, payload: { ...payload, duration: 5 } },
        0,
      )
      .map((line) => line.map(({ text }) => text).join(''));
  const live = () => calls.live(0).map((line) => line.map(({ text }) => text).join(''));
  const ask = { spanId: 'ask', toolName: 'agents__request', turnId: 'turn-a' };
  const turn = { spanId: 'turn', turnId: 'turn-b', parentSpanId: 'ask' };
  const find = { spanId: 'find', toolName: 'web__find', turnId: 'turn-b' };
  expect(hear('tool.called', 'host', ask)).toEqual([]);
  hear('turn.started', 'clerk', turn);
  hear('tool.called', 'clerk', find);
  expect(hear('tool.completed', 'clerk', find)).toEqual([]);
  hear('tool.called', 'clerk', { ...find, spanId: 'next' });
  expect(live()).toEqual([
    '  … agents__request 0 s',
    '    … clerk 0 s',
    '      ✓ clerk · web__find ok, 5 ms',
    '      … clerk · web__find 0 s',
  ]);
  hear('tool.completed', 'clerk', { ...find, spanId: 'next' });
  expect(hear('turn.completed', 'clerk', turn)).toEqual([]);
  expect(hear('tool.completed', 'host', ask)).toEqual([
    '  ✓ agents__request ok, 5 ms',
    '    ✓ clerk ok, 5 ms',
    '      ✓ clerk · web__find ok, 5 ms',
    '      ✓ clerk · web__find ok, 5 ms',
  ]);
  // The call did not wait for this turn.
  hear('turn.started', 'clerk', turn);
  expect(hear('turn.completed', 'clerk', turn)).toEqual(['  ✓ clerk ok, 5 ms']);
});
