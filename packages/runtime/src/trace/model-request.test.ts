import { expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { RequestRecorder } from './model-request.ts';
import { WrittenRequests } from './written-requests.ts';

test('a request refers to the newest one of each asker, for at most eight askers', () => {
  const written = new WrittenRequests();
  written.add(undefined, 'old', ['a', 'b', 'c']);
  for (let index = 0; index < 8; index++) {
    written.add(`asker-${index}`, `key-${index}`, [`${index}`]);
    written.add(undefined, `step-${index}`, ['a', 'b']);
  }
  expect(written.closest(undefined, ['a', 'b', 'c'])).toEqual({ effect: 'step-7', count: 2 });
  expect(written.closest('asker-1', ['1', '2'])).toEqual({ effect: 'key-1', count: 1 });
  expect(written.closest('asker-0', ['0'])).toBeUndefined();
});

test('the asker that has been silent longest is left out first, not the one that asked first', () => {
  const written = new WrittenRequests();
  written.add(undefined, 'step-0', ['a']);
  for (let index = 0; index < 7; index++) written.add(`asker-${index}`, `key-${index}`, [`${index}`]);
  written.add(undefined, 'step-1', ['a', 'b']);
  written.add('asker-7', 'key-7', ['7']);
  expect(written.closest(undefined, ['a', 'b'])).toEqual({ effect: 'step-1', count: 2 });
  expect(written.closest('asker-0', ['0'])).toBeUndefined();
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
  expect(new RequestRecorder().record(asked, () => '', undefined).params).toEqual({
    loop: { name: 'loop', self: '(a cycle)' },
    one: written,
    list: [written, { again: written }],
  });
});

test('params with a value that cannot be read become a text', () => {
  const params = {
    get unread(): unknown {
      throw new Error('not yet');
    },
  };
  // The cast is needed because a layer in plain JavaScript may pass anything.
  const asked = { modelRef: 'Model/m', params: params as never, tools: [], messages: [] };
  expect(new RequestRecorder().record(asked, () => '', undefined).params as unknown).toBe('(cannot be read)');
});

test('the beginning of an immutable message is made once, until the mask has more secrets', () => {
  const recorder = new RequestRecorder();
  const messages = [says('a'), says('b'), { role: 'user', content: 'c' } as const];
  const asked = { modelRef: 'Model/m', params: {}, tools: [], messages };
  const made: unknown[] = [];
  const shorten = (value: unknown) => {
    made.push(value);
    return `${made.length}`;
  };
  const shownBy = (version: unknown) => Object.values(recorder.record(asked, shorten, version).messages.shown);
  expect(shownBy('one')).toEqual(['1', '2', '3']);
  expect(shownBy('one')).toEqual(['1', '2', '4']);
  expect(shownBy('two')).toEqual(['5', '6', '7']);
  expect(made).toEqual(['a', 'b', 'c', 'c', 'a', 'b', 'c']);
  const many = { ...asked, messages: Array.from({ length: 40 }, (_, at) => says(`${at}`)) };
  const places = Object.keys(recorder.record(many, shorten, 'two').messages.shown);
  expect(places).toEqual(['0 user', ...Array.from({ length: 12 }, (_, at) => `${28 + at} user`)]);
});

const says = (content: string): ModelMessage => Object.freeze({ role: 'user', content });

test('a long run of messages is one entry, unless an earlier request of the run has its beginning', () => {
  const recorder = new RequestRecorder();
  const messages = Array.from({ length: 40 }, (_, at) => says(`${at}`));
  const own = says('own');
  const ids = new Map(messages.map((message, at) => [message as object, `id-${at}`]));
  const idOf = (message: object) => ids.get(message);
  const asked = (list: readonly ModelMessage[]) => ({
    modelRef: 'Model/m',
    params: {},
    tools: [],
    messages: list,
    idOf,
    follows: (id: string, other: string) => Number(id.slice(3)) === Number(other.slice(3)) + 1,
    sent: { provider: 'test' },
  });
  const more = (list: readonly ModelMessage[], written: WrittenRequests) =>
    recorder.refer('key', asked(list), written)?.references.more.map((entry) => {
      const { id = 'none' } = entry;
      return 'to' in entry ? `${id}…${entry.to} (${entry.count})` : id;
    });
  const written = new WrittenRequests();
  expect(more([own, ...messages.slice(0, 20), own], written)).toEqual(['none', 'id-0…id-19 (20)', 'none']);
  expect(more([own, ...messages.slice(0, 22)], written)).toEqual(['id-20', 'id-21']);
  expect(more([own, ...messages.slice(0, 25)], written)).toEqual(['id-22', 'id-23', 'id-24']);
  expect(more(messages.slice(0, 16), new WrittenRequests())).toEqual(messages.slice(0, 16).map((_, at) => `id-${at}`));
  expect(more(messages, new WrittenRequests())).toEqual(['id-0…id-39 (40)']);
  const [first = own] = messages;
  expect(more([first, ...messages.slice(20)], new WrittenRequests())).toEqual(['id-0', 'id-20…id-39 (20)']);
});
