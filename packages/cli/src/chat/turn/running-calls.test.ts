import { expect, test } from 'bun:test';
import { RunningCalls } from './running-calls.ts';

test('F-03 the line of a tool call that failed names the place', () => {
  const calls = new RunningCalls('host');
  const at = { agent: 'host', instanceKey: 'default' };
  const called = { spanId: 's', toolName: 'dice__roll', args: '{}' };
  const error = {
    ...{ code: 'E_TOOL_FAILED', message: 'sidez is not defined' },
    place: { file: 'tools/dice.ts', line: 3, column: 21 },
  };
  calls.hear({ type: 'runtime.event', at, name: 'tool.called', payload: called }, 0);
  const payload = { ...called, status: 'error', duration: 12, error };
  const line = calls.hear({ type: 'runtime.event', at, name: 'tool.completed', payload }, 12) ?? [];
  expect(line.map(({ text }) => text).join('')).toBe(
    '  ✗ dice__roll failed, 12 ms: E_TOOL_FAILED: sidez is not defined (tools/dice.ts:3:21)',
  );
});
