import { describe, expect, test } from 'bun:test';
import {
  createAssistantMessage,
  createSystemMessage,
  createUserMessage,
  GoondanError,
  type Message,
} from '@goondan/types';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { checkMessage, checkMessageEvent } from './check-message-event.ts';

const options = { id: 'm', createdAt: new Date(7) };
const user = createUserMessage('hello', { pinned: true }, options);
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'weather__get', input: { city: 'Seoul' } } as const;
const result = {
  type: 'tool-result',
  toolCallId: 'c1',
  toolName: 'weather__get',
  output: { type: 'json', value: { tempC: 3 } },
} as const;
const tool: Message = {
  ...options,
  data: { role: 'tool', content: [result] },
  metadata: {},
  source: { type: 'tool', toolCallId: 'c1', toolName: 'weather__get' },
};

describe('a message of any source is accepted and comes out equal', () => {
  test.each<[string, Message]>([
    ['user', user],
    [
      'user with parts',
      createUserMessage(
        [
          { type: 'text', text: 'look' },
          { type: 'image', image: 'aGk=' },
        ],
        {},
        options,
      ),
    ],
    ['assistant', createAssistantMessage('hi', {}, { ...options, source: { type: 'assistant', stepId: 's' } })],
    ['assistant with calls', createAssistantMessage([{ type: 'text', text: 'wait' }, call], {}, options)],
    ['tool', tool],
    ['system', createSystemMessage('be brief', {}, options)],
    ['for one turn', createSystemMessage('it rains', {}, { ...options, lifetime: 'turn' })],
    ['extension', createSystemMessage('x', {}, { ...options, source: { type: 'extension', extensionName: 'skills' } })],
  ])('M-09 %s', (_source, message) => {
    const { message: checked } = appended(message);
    expect(checked).toEqual(message);
    expect(checked.createdAt).toBeInstanceOf(Date);
  });
});

describe('a stored message', () => {
  test('M-04 is frozen all the way down: message, data, parts, metadata, source', () => {
    const { message } = appended(createAssistantMessage([call], { tags: { pinned: true } }, options));
    expect(notFrozen(message)).toEqual([]);
    expect(Object.isFrozen(checkMessageEvent({ type: 'truncate' }))).toBe(true);
  });

  test('has readonly metadata: the type refuses what the runtime refuses', () => {
    const { message } = appended(createAssistantMessage('hi', {}, options));
    // @ts-expect-error The metadata of a message is readonly.
    expect(() => void (message.metadata.pinned = true)).toThrow(TypeError);
    // @ts-expect-error So is the field.
    expect(() => void (message.metadata = {})).toThrow(TypeError);
  });

  test('M-04 does not share objects with the caller’s message', () => {
    const metadata = { note: { text: 'before' } };
    const content = [{ type: 'text' as const, text: 'before' }];
    const createdAt = new Date(7);
    const given = createUserMessage(content, metadata, { id: 'm', createdAt });
    const { message } = appended(given);
    metadata.note.text = 'after';
    content[0] = { type: 'text', text: 'after' };
    createdAt.setTime(99);
    given.metadata.more = true;
    expect(message).toEqual(
      createUserMessage([{ type: 'text', text: 'before' }], { note: { text: 'before' } }, options),
    );
    expect(Object.isFrozen(given)).toBe(false);
  });

  test('has only the fields of a message, and none that is undefined', () => {
    const { message } = appended({ ...user, metadata: { gone: undefined, kept: 1 }, stranger: undefined });
    expect(Object.keys(message)).toEqual(['id', 'data', 'metadata', 'createdAt', 'source']);
    expect(Object.keys(message.metadata)).toEqual(['kept']);
  });

  test('metadata may be left out', () => {
    const { metadata: _left, ...rest } = user;
    expect(appended(rest).message.metadata).toEqual({});
  });

  test.each<[problem: string, event: object]>([
    [
      '"index" is not a field of an append event; its fields are type, message',
      { type: 'append', message: user, index: 3 },
    ],
    [
      '"id" is not a field of a replace event; the nearest field is "targetId"',
      { type: 'replace', id: 'a', message: user },
    ],
    [
      '"messageId" is not a field of a remove event; the nearest field is "targetId"',
      { type: 'remove', messageId: 'a' },
    ],
    ['"targetId" is not a field of a truncate event; its fields are type', { type: 'truncate', targetId: 'a' }],
    [
      '"pinned" is not a field of a message; the nearest field is "metadata"',
      { type: 'append', message: { ...user, pinned: true } },
    ],
    [
      '"content" is not a field of a message; the nearest field is "data"',
      { type: 'append', message: { ...user, content: 'hi' } },
    ],
  ])('an event with an unknown field is an error: %s', (problem, event) => {
    expect(() => checkMessageEvent(event)).toThrow(
      new GoondanError('E_MESSAGE_INVALID', `Not a message event: ${problem}.`),
    );
  });

  test('an unknown option of a created message is an error', () => {
    const mistyped = { lifetme: 'turn' };
    for (const create of [createSystemMessage, createUserMessage, createAssistantMessage]) {
      expect(() => checkMessage(create('hi', {}, mistyped as object))).toThrow(
        '"lifetme" is not a field of a message; the nearest field is "lifetime"',
      );
    }
  });

  test('the four kinds of event keep exactly the fields they need', () => {
    expect(checkMessageEvent({ type: 'remove', targetId: 'a' })).toEqual({ type: 'remove', targetId: 'a' });
    expect(checkMessageEvent({ type: 'truncate' })).toEqual({ type: 'truncate' });
    expect(checkMessageEvent({ type: 'replace', targetId: 'a', message: user })).toEqual({
      type: 'replace',
      targetId: 'a',
      message: user,
    });
  });
});

describe('a malformed event is E_MESSAGE_INVALID and says what is wrong', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  test.each<[what: string, event: unknown, says: string]>([
    ['no object', 'append', 'the event is not an object'],
    ['nothing', undefined, 'the event is not an object'],
    ['no type', {}, 'not one of append, replace, remove, truncate'],
    ['an unknown type', { type: 'delete', targetId: 'a' }, '"delete" is not one of'],
    ['a type that cannot be converted to a text', { type: Object.create(null) }, 'not one of append'],
    ['no target', { type: 'remove' }, 'targetId is not a text'],
    ['an empty target', { type: 'replace', targetId: '', message: user }, 'targetId is not a text'],
    ['no message', { type: 'append' }, 'message is not an object'],
    ['a replace without a message', { type: 'replace', targetId: 'a' }, 'message is not an object'],
  ])('M-04 %s', (_what, event, says) => {
    expect(refusal(() => checkMessageEvent(event))).toContain(says);
  });

  test.each<[what: string, change: Record<string, unknown>, says: string]>([
    ['no id', { id: undefined }, 'message.id is not a text'],
    ['an empty id', { id: '' }, 'message.id is not a text'],
    ['an invalid date', { createdAt: new Date('never') }, 'message.createdAt is not a valid Date'],
    ['a date as text', { createdAt: '2026-01-01T00:00:00Z' }, 'message.createdAt is not a valid Date'],
    ['a lifetime of another length', { lifetime: 'forever' }, 'message.lifetime "forever" is neither step nor turn'],
    ['no data', { data: undefined }, 'message.data is not an object'],
    ['a bad role', { data: { role: 'robot', content: 'x' } }, 'message.data.role "robot" is not one of'],
    ['a role of the prototype', { data: { role: 'toString', content: 'x' } }, 'is not one of'],
    ['no content', { data: { role: 'user' } }, 'content of the user message is neither a text nor an array'],
    [
      'a system message with parts',
      { data: { role: 'system', content: [] } },
      'content of a system message is not a text',
    ],
    ['a tool message with text', { data: { role: 'tool', content: 'x' } }, 'content of a tool message is not an array'],
    [
      'a part without a type',
      { data: { role: 'user', content: [{ text: 'x' }] } },
      'part of the user message has no type',
    ],
    ['a part that is a text', { data: { role: 'user', content: ['x'] } }, 'part of the user message has no type'],
    [
      'a text part without text',
      { data: { role: 'assistant', content: [{ type: 'text' }] } },
      'a text part has no text',
    ],
    ['a call without an id', { data: assistant({ ...call, toolCallId: '' }) }, 'toolCallId of a tool-call part'],
    ['a call without a name', { data: assistant({ ...call, toolName: 7 }) }, 'toolName of a tool-call part'],
    ['two calls with one id', { data: assistant(call, call) }, 'two tool calls have the id "c1"'],
    ['a call by the user', { data: { role: 'user', content: [call] } }, 'a user message cannot have tool-call parts'],
    [
      'a result by the user',
      { data: { role: 'user', content: [result] } },
      'a user message cannot have tool-result parts',
    ],
    ['a result without output', { data: toolData({ ...result, output: 'x' }) }, 'tool-result part has no output'],
    ['a result without an id', { data: toolData({ ...result, toolCallId: undefined }) }, 'toolCallId of a tool-result'],
    ['a text in a tool message', { data: toolData({ type: 'text', text: 'x' }) }, 'can have only tool-result parts'],
    ['data that is not JSON', { data: { role: 'user', content: 'x', f: () => 1 } }, 'message.data.f is a function'],
    [
      'a number JSON cannot hold',
      { data: assistant({ ...call, input: { n: Number.NaN } }) },
      'message.data.content[0].input.n is NaN',
    ],
    ['metadata with a date', { metadata: { at: new Date() } }, 'message.metadata.at is a Date'],
    ['metadata with a cycle', { metadata: cycle }, 'message.metadata.self is part of a cycle'],
    ['metadata that is a list', { metadata: [] }, 'message.metadata is an array'],
    ['no source', { source: undefined }, 'message.source is not an object'],
    ['a source without a type', { source: {} }, 'is not one of user, system, assistant, tool, extension'],
    ['an unknown source', { source: { type: 'robot' } }, 'message.source.type "robot" is not one of'],
    ['a source of the prototype', { source: { type: 'toString' } }, 'message.source.type "toString" is not one of'],
    ['an assistant without a step', { source: { type: 'assistant' } }, 'message.source.stepId is not a text'],
    ['a tool without a name', { source: { type: 'tool', toolCallId: 'c' } }, 'message.source.toolName is not a text'],
    ['an extension without a name', { source: { type: 'extension' } }, 'message.source.extensionName is not a text'],
  ])('M-09 %s', (_what, change, says) => {
    expect(refusal(() => checkMessage({ ...user, ...change }))).toContain(says);
    expect(refusal(() => checkMessageEvent({ type: 'append', message: { ...user, ...change } }))).toContain(says);
  });

  test('any value is either refused with the code or stored frozen; nothing else is thrown', () => {
    const anything = fc.anything({ withNullPrototype: true, withDate: true, withBigInt: true, withMap: true });
    const type = fc.oneof(fc.constantFrom('append', 'replace', 'remove', 'truncate'), anything);
    const role = fc.oneof(fc.constantFrom('system', 'user', 'assistant', 'tool'), anything);
    const part = fc.record({ type: fc.oneof(fc.constantFrom('text', 'tool-call', 'tool-result'), anything) });
    const data = fc.oneof(fc.record({ role, content: fc.oneof(fc.string(), fc.array(part), anything) }), anything);
    const source = fc.oneof(fc.record({ type: fc.oneof(fc.constantFrom('user', 'constructor'), anything) }), anything);
    const message = fc.oneof(
      fc.record({ id: fc.string(), data, metadata: anything, createdAt: fc.date({ noInvalidDate: false }), source }),
      anything,
    );
    const event = fc.oneof(fc.record({ type, targetId: fc.oneof(fc.string(), anything), message }), anything);
    fc.assert(
      fc.property(event, (given) => {
        try {
          expect(notFrozen(checkMessageEvent(given))).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(GoondanError);
          expect((error as GoondanError).code).toBe('E_MESSAGE_INVALID');
        }
      }),
      { numRuns: samples(3_000) },
    );
  });
});

const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const toolData = (...content: unknown[]) => ({ role: 'tool', content });

function appended(message: unknown): { message: Message } {
  const event = checkMessageEvent({ type: 'append', message });
  if (event.type !== 'append') throw new Error('an append stays one');
  return event;
}

/** Returns the message of a refusal; any other error fails the test. */
function refusal(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    if (error instanceof GoondanError && error.code === 'E_MESSAGE_INVALID') return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Lists the paths of values that are not frozen. Leaves out dates, because a date cannot be frozen. */
function notFrozen(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  const inside = Object.entries(value).flatMap(([key, item]) => notFrozen(item, `${path}.${key}`));
  return Object.isFrozen(value) ? inside : [path, ...inside];
}
