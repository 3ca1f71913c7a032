import { describe, expect, test } from 'bun:test';
import type { AssistantPart, ModelMessage, ToolModelMessage, ToolResultPart } from '@goondan/types';
import fc from 'fast-check';
import { callsOf, pairToolCalls } from './pair-tool-calls.ts';

const user: ModelMessage = { role: 'user', content: 'hello' };
const part = (toolCallId: string, more: { providerExecuted?: boolean } = {}): AssistantPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: `tool__${toolCallId}`,
  input: {},
  ...more,
});
const asks = (...ids: string[]): ModelMessage => ({ role: 'assistant', content: ids.map((id) => part(id)) });
const answer = (toolCallId: string, value = toolCallId): ToolResultPart => ({
  type: 'tool-result',
  toolCallId,
  toolName: `tool__${toolCallId}`,
  output: { type: 'text', value },
});
const answers = (...ids: string[]): ToolModelMessage => ({ role: 'tool', content: ids.map((id) => answer(id)) });

/** Formats messages as text. A `?` is a result for the model that says that the real result is missing. */
function show(messages: readonly ModelMessage[]): string {
  return messages.map(showOne).join(' ');
}

function showOne(message: ModelMessage): string {
  if (message.role === 'tool') return `=${message.content.map(showResult).join('')}`;
  const calls = [...callsOf(message).keys()].join('');
  return calls === '' ? message.role : `call:${calls}`;
}

function showResult({ toolCallId, output }: ToolResultPart): string {
  return output.type === 'text' ? output.value : `${toolCallId}?`;
}

describe('every call is followed by its result, in the order of the calls', () => {
  test.each<[what: string, messages: ModelMessage[], shown: string]>([
    ['nothing to do', [user, asks('a', 'b'), answers('a'), answers('b'), user], 'user call:ab =a =b user'],
    ['results in another order', [asks('a', 'b'), answers('b'), answers('a')], 'call:ab =a =b'],
    ['results in one message', [asks('a', 'b'), answers('b', 'a')], 'call:ab =a =b'],
    ['a missing result', [asks('a', 'b'), answers('b'), user], 'call:ab =a? =b user'],
    ['all results missing', [user, asks('a', 'b')], 'user call:ab =a? =b?'],
    ['a result without a call', [answers('a'), user, answers('b')], 'user'],
    ['a result before its call', [answers('a'), asks('a')], 'call:a =a?'],
    ['a stranger beside a result', [asks('a'), answers('x', 'a')], 'call:a =a'],
    ['something in between', [asks('a'), user, answers('a')], 'call:a =a user'],
    ['a result after the next calls', [asks('a'), asks('b'), answers('a'), answers('b')], 'call:a =a call:b =b'],
    ['an id used again', [asks('a'), answers('a'), asks('a'), answers('a')], 'call:a =a call:a =a'],
    ['an id used again while it was open', [asks('a'), asks('a'), answers('a')], 'call:a =a? call:a =a'],
    ['a call without a result, long ago', [asks('a'), user, asks('b'), answers('b')], 'call:a =a? user call:b =b'],
  ])('M-10 %s', (_what, messages, shown) => {
    expect(show(pairToolCalls(messages))).toBe(shown);
  });

  test('M-10 the first result of a call is used', () => {
    const again: ToolModelMessage = { role: 'tool', content: [answer('a', 'again')] };
    expect(show(pairToolCalls([asks('a'), answers('a'), again]))).toBe('call:a =a');
  });

  test('M-10 a missing result is shown as an error with a code', () => {
    expect(pairToolCalls([asks('a')])[1]).toEqual({
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'a',
          toolName: 'tool__a',
          output: {
            type: 'error-json',
            value: { code: 'E_INTERRUPTED', message: 'No result of this call was recorded.' },
          },
        },
      ],
    });
  });

  test('M-10 a call that the provider ran itself gets no result', () => {
    const own: ModelMessage = {
      role: 'assistant',
      content: [part('a', { providerExecuted: true }), answer('a'), part('b')],
    };
    const paired = pairToolCalls([own, answers('a'), answers('b')]);
    expect(paired).toEqual([own, answers('b')]);
  });

  test('messages that need no repair are shown as the same objects', () => {
    const messages = [user, asks('a'), answers('a')];
    pairToolCalls(messages).forEach((shown, number) => expect(shown).toBe(messages[number] ?? user));
  });
});

const aCallId = fc.constantFrom('a', 'b', 'c', 'd');
const someMessages: fc.Arbitrary<ModelMessage[]> = fc.array(
  fc.oneof(
    fc.constant(user),
    fc.uniqueArray(aCallId, { minLength: 1 }).map((ids) => asks(...ids)),
    fc.array(aCallId, { maxLength: 3 }).map((ids) => answers(...ids)),
  ),
  { maxLength: 25 },
);

describe('whatever the messages', () => {
  test('M-10 every call has exactly one result, and every result has a call', () => {
    fc.assert(
      fc.property(someMessages, (messages) => {
        const shown = pairToolCalls(messages);
        const expected = shown.flatMap((message) =>
          message.role === 'tool'
            ? []
            : [
                showOne(message),
                ...callsOf(message)
                  .keys()
                  .map((id) => `=${id}`),
              ],
        );
        expect(shown.map(showOne).map((each) => each.replace('?', ''))).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test('M-10 nothing else is lost, added or moved, and pairing again changes nothing', () => {
    fc.assert(
      fc.property(someMessages, (messages) => {
        const shown = pairToolCalls(messages);
        const withoutResults = (list: readonly ModelMessage[]) => list.filter(({ role }) => role !== 'tool');
        expect(withoutResults(shown)).toEqual(withoutResults(messages));
        expect(pairToolCalls(shown)).toEqual(shown);
      }),
      { numRuns: 500 },
    );
  });

  test('M-10 a result is shown as missing only when there is none between its call and the next call with that id', () => {
    fc.assert(
      fc.property(someMessages, (messages) => {
        const calls = messages.flatMap((message, at) =>
          callsOf(message)
            .keys()
            .map((id) => ({ id, at }))
            .toArray(),
        );
        const expected = calls.map(({ id, at }) => {
          const later = messages.slice(at + 1);
          const next = later.findIndex((message) => callsOf(message).has(id));
          const until = next === -1 ? later : later.slice(0, next);
          const found = until.some(({ role, content }) => role === 'tool' && content.some(isResultOf(id)));
          return found ? `=${id}` : `=${id}?`;
        });
        const results = pairToolCalls(messages).filter(({ role }) => role === 'tool');
        expect(results.map(showOne)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

function isResultOf(id: string) {
  return (result: ToolResultPart) => result.toolCallId === id;
}
