import { expect, test } from 'bun:test';
import { RequestRecorder, WrittenRequests } from './model-request.ts';

test('a request refers to the newest one of each asker, for at most eight askers', () => {
  const written = new WrittenRequests();
  written.add(undefined, 'old', ['a', 'b', 'c']);
  for (let index = 0; index < 8; index++) {
    written.add(`asker-${index}`, `key-${index}`, [`${index}`]);
    written.add(undefined, `step-${index}`, ['a', 'b']);
  }
  expect(written.closest(['a', 'b', 'c'])).toEqual({ effect: 'step-7', count: 2 });
  expect(written.closest(['1', '2'])).toEqual({ effect: 'key-1', count: 1 });
  expect(written.closest(['0'])).toBeUndefined();
});

test('the asker that has been silent longest is left out first, not the one that asked first', () => {
  const written = new WrittenRequests();
  written.add(undefined, 'step-0', ['a']);
  for (let index = 0; index < 7; index++) written.add(`asker-${index}`, `key-${index}`, [`${index}`]);
  written.add(undefined, 'step-1', ['a', 'b']);
  written.add('asker-7', 'key-7', ['7']);
  expect(written.closest(['a', 'b'])).toEqual({ effect: 'step-1', count: 2 });
  expect(written.closest(['0'])).toBeUndefined();
});

test('each tool, and each message outside the conversation, is written once per run', () => {
  const recorder = new RequestRecorder();
  const written = new WrittenRequests();
  const asked = {
    modelRef: 'Model/m',
    params: {},
    tools: [{ name: 'file__read', description: 'Reads a file.' }],
    messages: [{ role: 'user', content: 'hello' } as const],
    sent: { provider: 'test' },
  };
  const other = { ...asked, messages: [{ role: 'user', content: 'bye' } as const, ...asked.messages] };
  const partsOf = (effect: string, request: typeof asked | typeof other) =>
    Object.values(recorder.refer(effect, request, written)?.parts ?? {});
  expect(partsOf('one', asked)).toEqual([...asked.messages, ...asked.tools]);
  expect(partsOf('two', asked)).toEqual([]);
  expect(partsOf('three', other)).toEqual([{ role: 'user', content: 'bye' }]);
});

test('params that are not JSON keep everything else: only an object inside of itself is a cycle', () => {
  const loop: Record<string, unknown> = { name: 'loop' };
  loop.self = loop;
  const shared = { deep: { n: 1n } };
  const params = { loop, one: shared, list: [shared, { again: shared }] };
  // The cast is needed because a layer in plain JavaScript may pass anything.
  const asked = { modelRef: 'Model/m', params: params as never, tools: [], messages: [] };
  const written = { deep: { n: '1n' } };
  expect(new RequestRecorder().record(asked, () => '').params).toEqual({
    loop: { name: 'loop', self: '(a cycle)' },
    one: written,
    list: [written, { again: written }],
  });
});
