import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createAssistantMessage, GoondanError } from '@goondan/types';
import { NotResult, type ResultReader } from './onion.ts';
import { readModelReply, readStepResult, readToolCallResult, readTurnResult } from './result-shapes.ts';

type Read = (value: unknown, reader: ResultReader) => unknown;

const readCallResult: Read = (value, reader) => readToolCallResult(value, 'call_1', 'weather__get', reader);
/** Returns the reason why a value is not a result; undefined for a result. */
const problemOf = (read: Read) => (value: unknown) => {
  try {
    read(value, { dropped: () => undefined });
    return undefined;
  } catch (error) {
    return error instanceof NotResult ? error.message : error;
  }
};
const problemWithTurnResult = problemOf(readTurnResult);
const problemWithStepResult = problemOf(readStepResult);
const problemWithCallResult = problemOf(readCallResult);
const problemWithModelReply = problemOf(readModelReply);
const cycle: Record<string, unknown> = {};
cycle.self = cycle;

const checks = { problemWithTurnResult, problemWithStepResult, problemWithCallResult, problemWithModelReply };

test.each(Object.entries(checks))('%s never throws, whatever a layer returned', (_, problemWith) => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }), (value) => {
      expect(problemWith(value)).toBeString();
    }),
  );
});

test.each(Object.entries(checks))('%s describes a value that is not a result', (_, problemWith) => {
  expect(problemWith(undefined)).toBe('it returned nothing');
  expect(problemWith(null)).toBe('it is null');
  expect(problemWith('done')).toBe('it is a string');
  expect(problemWith(() => undefined)).toBe('it is a function');
});

test.each(Object.entries(checks))('%s refuses fields that a result inherits', (_, problemWith) => {
  const result = { turnId: 'turn-1', finishReason: 'text_response' };
  expect(problemWith(Object.create(result))).toContain('not a plain object');
  expect(
    problemWith(
      new (class Result {
        status = 'completed';
      })(),
    ),
  ).toContain('not a plain object');
  expect(problemWith([])).toBe('it is an array');
});

describe('a turn result', () => {
  const good = { turnId: 'turn-1', finishReason: 'text_response' };
  const said = createAssistantMessage('hello');

  test.each<[string, object]>([
    ['no message', good],
    [
      'a message with a text',
      { ...good, finishReason: 'max_steps', responseMessage: createAssistantMessage('so far') },
    ],
    ['a message with parts', { ...good, responseMessage: createAssistantMessage([{ type: 'text', text: 'parts' }]) }],
    ['an error', { ...good, finishReason: 'error', error: { message: 'no', code: 'E_MINE' } }],
    ['a message that is undefined', { ...good, responseMessage: undefined }],
    ['a truncated answer', { ...good, truncated: true }],
  ])('C-06 may have %s', (_, value) => {
    expect(problemWithTurnResult(value)).toBeUndefined();
  });

  test.each<[string, object]>([
    ['turnId', { finishReason: 'text_response' }],
    ['turnId', { ...good, turnId: 7 }],
    ['finishReason', { ...good, finishReason: 'stop' }],
    ['finishReason', { turnId: 'turn-1' }],
    ['responseMessage', { ...good, responseMessage: 'hello' }],
    ['responseMessage', { ...good, responseMessage: {} }],
    ['responseMessage', { ...good, responseMessage: Object.create(createAssistantMessage('hello')) as object }],
    ['responseMessage', { ...good, responseMessage: { role: 'assistant', content: 'bare' } }],
    ['responseMessage.id', { ...good, responseMessage: { ...said, id: '' } }],
    ['responseMessage.data', { ...good, responseMessage: { ...said, data: undefined } }],
    ['responseMessage.data.role', { ...good, responseMessage: { ...said, data: { role: 'bot', content: '' } } }],
    ['the content', { ...good, responseMessage: { ...said, data: { role: 'assistant' } } }],
    ['responseMessage.createdAt', { ...good, responseMessage: { ...said, createdAt: '2026-01-01' } }],
    ['responseMessage.createdAt', { ...good, responseMessage: { ...said, createdAt: new Date('never') } }],
    ['responseMessage.metadata', { ...good, responseMessage: { ...said, metadata: undefined } }],
    ['responseMessage.metadata.n', { ...good, responseMessage: { ...said, metadata: { n: 1n } } }],
    ['responseMessage.source.extensionName', { ...good, responseMessage: { ...said, source: { type: 'extension' } } }],
    ['truncated', { ...good, truncated: 'yes' }],
    ['error', { ...good, finishReason: 'error', error: 'no' }],
    ['error', { ...good, finishReason: 'error', error: { code: 'E_MINE' } }],
  ])('C-06 with a wrong %s is refused', (names, value) => {
    expect(problemWithTurnResult(value)).toContain(names);
  });
});

describe('a step result', () => {
  const good = { status: 'completed', hasToolCalls: false, toolCalls: [], toolResults: [], metadata: {} };

  test('C-07 may be completed or failed', () => {
    expect(problemWithStepResult(good)).toBeUndefined();
    expect(problemWithStepResult({ ...good, status: 'failed', metadata: { reason: 'tired' } })).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>]>([
    ['status', { status: 'ok' }],
    ['status', { status: undefined }],
    ['hasToolCalls', { hasToolCalls: 'no' }],
    ['toolCalls', { toolCalls: undefined }],
    ['toolCalls', { toolCalls: {} }],
    ['toolResults', { toolResults: null }],
    ['metadata', { metadata: undefined }],
    ['metadata', { metadata: null }],
    ['metadata', { metadata: { when: new Date() } }],
    ['metadata', { metadata: cycle }],
  ])('C-07 with a wrong %s is refused', (names, wrong) => {
    expect(problemWithStepResult({ ...good, ...wrong })).toContain(names);
  });
});

describe('a tool call result', () => {
  const good = { toolCallId: 'call_1', toolName: 'weather__get', status: 'ok', output: { tempC: 3 } };
  const failed = { ...good, output: undefined, status: 'error', error: { message: 'no' } };

  const nested = (depth: number): unknown => (depth === 0 ? 'inside' : [nested(depth - 1)]);

  test('C-08 may be ok, with or without output, or an error', () => {
    expect(problemWithCallResult({ ...good, output: nested(255) })).toBeUndefined();
    expect(problemWithCallResult(good)).toBeUndefined();
    expect(problemWithCallResult({ ...good, output: undefined })).toBeUndefined();
    expect(problemWithCallResult(failed)).toBeUndefined();
  });

  test.each([
    [failed, { message: 'no' }],
    [{ ...good, status: 'error' }, { message: '"weather__get" failed without giving a reason.' }],
    [
      { ...failed, error: { code: 'E_MINE', helpUrl: 'https://a.b' } },
      { code: 'E_MINE', helpUrl: 'https://a.b', message: '"weather__get" failed without giving a reason.' },
    ],
    [
      { ...good, error: { name: 'Note', message: 'old data' } },
      { name: 'Note', message: 'old data' },
    ],
    [
      { ...good, error: { name: 'Note' } },
      { name: 'Note', message: '"weather__get" failed without giving a reason.' },
    ],
    [good, undefined],
  ])('C-08 an error is optional for both statuses, and has a message: %j', (value, error) => {
    const { error: _, ...others } = value as { error?: unknown };
    expect(readCallResult(value, { dropped: () => undefined })).toEqual({ ...others, ...(error && { error }) });
  });

  test.each<[string, object]>([
    ['toolCallId', { ...good, toolCallId: 'call_2' }],
    ['toolName', { ...good, toolName: 'weather__set' }],
    ['toolCallId', { ...good, toolCallId: undefined }],
    ['status', { ...good, status: 'completed' }],
    ['error', { ...failed, error: 'no' }],
    ['error', { ...good, error: null }],
    ['error.message', { ...failed, error: { message: 7 } }],
    ['error.cause', { ...failed, error: { message: 'no', cause: new Error('why') } }],
    ['output.at', { ...good, output: { at: new Date() } }],
    ['output', { ...good, output: 10n }],
    ['output', { ...good, output: cycle }],
    ['output', { ...good, output: nested(256) }],
  ])('C-08 with a wrong %s is refused', (names, value) => {
    expect(problemWithCallResult(value)).toContain(names);
  });
});

describe('a model reply', () => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const good = { content: [{ type: 'text', text: 'hello' }], finishReason: 'stop', usage };
  const call = { type: 'tool-call', toolCallId: 'call_1', toolName: 'weather__get', input: {} };

  test('may hold text, calls, or nothing', () => {
    expect(problemWithModelReply(good)).toBeUndefined();
    expect(problemWithModelReply({ ...good, content: [] })).toBeUndefined();
    expect(problemWithModelReply({ ...good, content: [call, { ...call, toolCallId: 'call_2' }] })).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>]>([
    ['content', { content: 'hello' }],
    ['content', { content: [null] }],
    ['type', { content: [{ text: 'hello' }] }],
    ['text part', { content: [{ type: 'text' }] }],
    ['reasoning part', { content: [{ type: 'reasoning' }] }],
    ['toolCallId', { content: [{ ...call, toolCallId: '' }] }],
    ['toolName', { content: [{ ...call, toolName: undefined }] }],
    ['call_1', { content: [call, call] }],
    ['content[0].input', { content: [{ ...call, input: 10n }] }],
    ['content[0].input.at', { content: [{ ...call, input: { at: new Date() } }] }],
    ['finishReason', { finishReason: undefined }],
    ['usage', { usage: undefined }],
    ['usage', { usage: {} }],
    ['usage', { usage: { ...usage, totalTokens: Number.NaN } }],
  ])('with a wrong %s is refused', (names, wrong) => {
    expect(problemWithModelReply({ ...good, ...wrong })).toContain(names);
  });
});

describe('an unknown field', () => {
  const turn = { turnId: 'turn-1', finishReason: 'text_response' };
  const step = { status: 'completed', hasToolCalls: false, toolCalls: [], toolResults: [], metadata: {} };
  const call = { toolCallId: 'call_1', toolName: 'weather__get', status: 'ok' };
  const reply = { content: [], finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };

  /** Reads a value, and returns the result with the reports of dropped fields. */
  function read(reader: Read, value: unknown) {
    const dropped: string[] = [];
    return { result: reader(value, { dropped: (field) => void dropped.push(field) }), dropped };
  }

  test.each<[Read, object, object, string]>([
    [readTurnResult, turn, { respnseMessage: 1 }, 'a turn result; the nearest field is "responseMessage"'],
    [readStepResult, step, { toolResult: [] }, 'a step result; the nearest field is "toolResults"'],
    [readCallResult, call, { result: 1 }, 'a toolCall result; the nearest field is "output"'],
    [readModelReply, reply, { text: 'hi' }, 'a model result; the nearest field is "content"'],
    [
      readStepResult,
      step,
      { weather: 'fine' },
      'a step result; its fields are status, hasToolCalls, toolCalls, toolResults, metadata',
    ],
  ])('is dropped and reported with the nearest known field: %p', (reader, result, added, help) => {
    const given = Object.freeze({ ...result, ...added });
    expect(read(reader, given)).toEqual({ result, dropped: [`"${Object.keys(added)[0]}" is not a field of ${help}`] });
  });

  test('is reported with the others, at most five of them', () => {
    const { result, dropped } = read(readTurnResult, {
      ...turn,
      a: 1,
      b: 2,
      c: () => undefined,
      d: 4,
      e: 5,
      f: 6,
      g: 7,
    });
    expect(result).toEqual(turn);
    expect(dropped).toHaveLength(1);
    expect(dropped[0]?.split('; ').filter((part) => /^"[a-g]"|more/.test(part))).toMatchObject({
      length: 6,
      5: '2 more',
    });
  });

  test('in the error of a turn is dropped; the fields of a caught error are known', () => {
    const failed = { ...turn, finishReason: 'error' };
    expect(read(readTurnResult, { ...failed, error: { message: 'no', hint: 'x' } })).toEqual({
      result: { ...failed, error: { message: 'no' } },
      dropped: [expect.stringContaining('"hint" is not a field of an error')],
    });
    const caught = new GoondanError('E_MODEL_FAILED', 'no', { retryAfterMs: 1 });
    for (const error of [caught, Object.assign({}, caught, { message: 'no' })]) {
      const given = { ...failed, error };
      const { result, dropped } = read(readTurnResult, given);
      expect(result).toBe(given);
      expect(dropped).toEqual([]);
    }
  });

  test('in the error of a tool call is kept, because the model gets it', () => {
    const given = { ...call, status: 'error', error: { message: 'no', errno: -2, details: { status: 429 } } };
    expect(read(readCallResult, given)).toEqual({ result: given, dropped: [] });
  });

  test('whose value is undefined counts as absent', () => {
    const given = { ...turn, weather: undefined };
    const { result, dropped } = read(readTurnResult, given);
    expect(result).toBe(given);
    expect(dropped).toEqual([]);
  });
});
