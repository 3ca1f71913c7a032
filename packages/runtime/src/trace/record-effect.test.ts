import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { maskSecrets, noSecrets } from '../log/mask-secrets.ts';
import { EffectRecorder } from './record-effect.ts';
import { recordThrown, throwable } from './thrown-record.ts';

const request = (content: string, more = {}) => ({
  modelRef: 'Model/m',
  params: { temperature: 1 },
  tools: [{ name: 'weather__get', description: 'The weather.' }],
  messages: [
    { role: 'system', content: 'Be brief.' },
    ...Array.from({ length: 20 }, (_, index) => ({ role: 'user', content: `number ${index}` })),
    { role: 'user', content },
  ],
  ...more,
});

describe('the record of a model request', () => {
  const describeRequest = (asked: unknown) => new EffectRecorder().describe('model', asked, noSecrets);

  test('is digested as a whole, and shows its beginning and its end', () => {
    const record = describeRequest(request('hello'));
    // The record is cloned, because a matcher may change the value it checks.
    expect(structuredClone(record)).toMatchObject({
      modelRef: 'Model/m',
      params: { temperature: 1 },
      tools: { weather__get: expect.stringMatching(/^[0-9a-f]{16}$/) },
      messages: { count: 22, shown: { '0 system': 'Be brief.', '21 user': 'hello' } },
    });
    expect(describeRequest(request('hello'))).toEqual(record);
    const middle = request('hello');
    middle.messages.splice(5, 1, { role: 'user', content: 'another one' });
    expect(describeRequest(middle)).not.toEqual(record);
    expect(describeRequest(request('hello', { tools: [{ name: 'weather__get', description: 'Rain.' }] }))).not.toEqual(
      record,
    );
    expect(describeRequest(request(`hello${' '.repeat(1_000)}1`))).not.toEqual(
      describeRequest(request(`hello${' '.repeat(1_000)}2`)),
    );
  });

  test('accepts values of a layer that are not JSON', () => {
    expect(() => describeRequest(request('hello', { params: { stop: undefined, at: new Date(0) } }))).not.toThrow();
  });
});

describe('the recorded outcome', () => {
  test('has no secrets, and is left out when it is very long', () => {
    const recorder = new EffectRecorder();
    const mask = maskSecrets(['a-secret-key']);
    const record = (value: unknown) =>
      recorder.record(
        { key: 'k', kind: 'tool', asked: { token: 'a-secret-key' }, outcome: { ok: true, value } },
        mask,
      )();
    expect(record({ said: 'a-secret-key' })).toEqual({
      key: 'k',
      kind: 'tool',
      asked: { token: '***' },
      outcome: { ok: true, value: { said: '***' } },
    });
    expect(record('x'.repeat(1_000_001))).not.toHaveProperty('outcome');
  });

  test('as a long error does not end with a part of a secret', () => {
    const secret = 'a-secret-key';
    const message = 'x'.repeat(9_990) + secret;
    const watched = { key: 'k', kind: 'tool' as const, asked: {} };
    for (const thrown of [new Error(message), message]) {
      const outcome = { ok: false as const, thrown };
      const record = new EffectRecorder().record({ ...watched, outcome }, maskSecrets([secret]))();
      expect(record.outcome).toMatchObject({ error: { message: 'x'.repeat(9_990) } });
    }
  });

  test('as an error is thrown again in the form that layers know', () => {
    const coded = new GoondanError('E_MODEL_FAILED', 'busy', { retryable: true, retryAfterMs: 7, suggestion: 'Wait.' });
    const again = throwable(recordThrown(coded, noSecrets));
    expect(again).toBeInstanceOf(GoondanError);
    expect(again).toMatchObject({
      code: 'E_MODEL_FAILED',
      message: 'busy',
      retryable: true,
      retryAfterMs: 7,
      suggestion: 'Wait.',
    });
    const own = Object.assign(new RangeError('too far'), { code: 'OUT', retryable: false });
    expect(throwable(recordThrown(own, noSecrets))).toMatchObject({
      name: 'RangeError',
      message: 'too far',
      code: 'OUT',
      retryable: false,
    });
    expect(throwable(recordThrown('oops', noSecrets)).message).toBe('oops');
    expect(throwable(recordThrown({}, noSecrets)).message).toBe('something was thrown');
  });
});
