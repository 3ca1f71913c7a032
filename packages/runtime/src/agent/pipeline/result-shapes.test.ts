import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createAssistantMessage, GoondanError } from '@goondan/types';
import {
  problemWithModelReply,
  problemWithStepResult,
  problemWithToolCallResult,
  problemWithTurnResult,
} from './result-shapes.ts';

const problemWithCallResult = (value: unknown) => problemWithToolCallResult(value, 'call_1', 'weather__get');
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
    ['responseMessage', { ...good, responseMessage: { id: 'a', data: { role: 'assistant' } } }],
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

  test('C-08 may be ok, with or without output, or an error', () => {
    expect(problemWithCallResult(good)).toBeUndefined();
    expect(problemWithCallResult({ ...good, output: undefined })).toBeUndefined();
    expect(problemWithCallResult(failed)).toBeUndefined();
  });

  test.each<[string, object]>([
    ['toolCallId', { ...good, toolCallId: 'call_2' }],
    ['toolName', { ...good, toolName: 'weather__set' }],
    ['toolCallId', { ...good, toolCallId: undefined }],
    ['status', { ...good, status: 'completed' }],
    ['error', { ...failed, error: undefined }],
    ['error', { ...failed, error: { code: 'E_MINE' } }],
    ['error.cause', { ...failed, error: { message: 'no', cause: new Error('why') } }],
    ['output.at', { ...good, output: { at: new Date() } }],
    ['output', { ...good, output: 10n }],
    ['output', { ...good, output: cycle }],
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
  const nearest = (field: string, what: string, known: string) =>
    `"${field}" is not a field of ${what}; the nearest field is "${known}"`;

  test('is named with the nearest known field, for each kind of layer', () => {
    const field = { respnseMessage: 1 };
    expect(problemWithTurnResult({ ...turn, ...field })).toBe(
      nearest('respnseMessage', 'a turn result', 'responseMessage'),
    );
    expect(problemWithStepResult({ ...step, toolResult: [] })).toBe(
      nearest('toolResult', 'a step result', 'toolResults'),
    );
    expect(problemWithCallResult({ ...call, result: 1 })).toBe(nearest('result', 'a toolCall result', 'output'));
    expect(problemWithModelReply({ ...reply, text: 'hi' })).toBe(nearest('text', 'a model result', 'content'));
  });

  test('is named with all known fields when none is near', () => {
    expect(problemWithStepResult({ ...step, weather: 'fine' })).toBe(
      '"weather" is not a field of a step result; its fields are status, hasToolCalls, toolCalls, toolResults, metadata',
    );
  });

  test('in the error of a turn is refused; the fields of a caught error are known', () => {
    const failed = { ...turn, finishReason: 'error' };
    expect(problemWithTurnResult({ ...failed, error: { message: 'no', hint: 'x' } })).toContain(
      '"hint" is not a field',
    );
    const caught = new GoondanError('E_MODEL_FAILED', 'no', { retryAfterMs: 1 });
    expect(problemWithTurnResult({ ...failed, error: caught })).toBeUndefined();
    expect(problemWithTurnResult({ ...failed, error: Object.assign({}, caught, { message: 'no' }) })).toBeUndefined();
  });

  test('in the error of a tool call is accepted, because the model gets it', () => {
    const error = { message: 'no', code: 'ENOENT', errno: -2, details: { status: 429 } };
    expect(problemWithCallResult({ ...call, status: 'error', error })).toBeUndefined();
  });

  test('whose value is undefined counts as absent', () => {
    expect(problemWithTurnResult({ ...turn, weather: undefined })).toBeUndefined();
  });
});
