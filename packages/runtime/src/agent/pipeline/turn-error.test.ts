import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GoondanError } from '@goondan/types';
import { attachExtension, extensionOf, isRetryable, retryAfterMsOf, toTurnError } from './turn-error.ts';

/** A foreign object may throw whenever it is read. */
const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('do not look');
    },
  },
);

describe('attachExtension', () => {
  test('P-12 returns the same object with the name attached, hidden from JSON and from spreads', () => {
    const error = Object.assign(new Error('boom'), { retryable: true, code: 'E_MINE' });
    expect(attachExtension(error, 'guard')).toBe(error);
    expect(extensionOf(error)).toBe('guard');
    expect(Object.keys(error)).toEqual(['retryable', 'code']);
  });

  test('P-12 keeps the first name: the layer that threw, not one that rethrew', () => {
    const error = new Error('boom');
    attachExtension(error, 'inner');
    attachExtension(error, 'outer');
    expect(extensionOf(error)).toBe('inner');
  });

  test('P-12 names the extension in the public field of a GoondanError, and leaves that field of other errors alone', () => {
    const coded = Object.assign(new GoondanError('E_CANCELLED', 'stopped'), { extension: 'a guess' });
    expect(attachExtension(coded, 'guard')).toHaveProperty('extension', 'guard');
    expect(attachExtension(coded, 'outer')).toHaveProperty('extension', 'guard');
    expect(Object.assign(coded, { extension: 'mine' })).toHaveProperty('extension', 'mine');
    expect(extensionOf(coded)).toBe('guard');
    const file = Object.assign(new Error('boom'), { extension: '.txt' });
    expect(attachExtension(file, 'guard')).toHaveProperty('extension', '.txt');
    expect(Object.keys(attachExtension(new GoondanError('E_CANCELLED', 'stopped'), 'guard'))).not.toContain(
      'extension',
    );
  });

  test.each([
    ['a text', 'oops'],
    ['undefined', undefined],
    ['null', null],
    ['a number', 42],
    ['a symbol', Symbol('s')],
  ])('P-12 wraps %s, which cannot carry a name, in an error that can', (_, thrown) => {
    const error = attachExtension(thrown, 'guard');
    expect(error).toBeInstanceOf(GoondanError);
    expect(error).toMatchObject({ code: 'E_EXT_MIDDLEWARE', extension: 'guard' });
    expect(Reflect.get(error, 'cause')).toBe(thrown);
    expect(toTurnError(error).message).toContain('extension "guard" threw');
  });

  test('P-12 leaves a frozen error unchanged', () => {
    const error = Object.freeze(new Error('cold'));
    expect(attachExtension(error, 'guard')).toBe(error);
  });
});

describe('toTurnError', () => {
  test('P-12 uses the error’s own code, else the fallback', () => {
    expect(toTurnError(Object.assign(new Error('a'), { code: 'E_MINE' }), 'E_EXT_MIDDLEWARE').code).toBe('E_MINE');
    expect(toTurnError(new Error('a'), 'E_EXT_MIDDLEWARE').code).toBe('E_EXT_MIDDLEWARE');
    expect(toTurnError(Object.assign(new Error('a'), { code: 404 }), 'E_EXT_MIDDLEWARE').code).toBe('E_EXT_MIDDLEWARE');
    expect(toTurnError(new Error('a'))).toEqual({ message: 'a' });
  });

  test('P-12 keeps suggestion, page and extension’s name of a coded error', () => {
    const helpUrl = 'https://example.com/cancel';
    const error = attachExtension(Object.assign(new GoondanError('E_CANCELLED', 'stopped'), { helpUrl }), 'guard');
    expect(toTurnError(error)).toEqual({
      message: 'stopped',
      code: 'E_CANCELLED',
      suggestion: expect.any(String),
      helpUrl,
      extension: 'guard',
    });
  });

  test('describes any thrown value and never throws itself', () => {
    expect(toTurnError('oops').message).toBe('oops');
    expect(toTurnError({ message: 'an object' }).message).toBe('an object');
    expect(toTurnError({ reason: 'other' }).message).toBe('{"reason":"other"}');
    expect(toTurnError(hostile).message).toBeString();
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (thrown) => {
        expect(toTurnError(thrown, 'E_EXT_MIDDLEWARE').message).toBeString();
      }),
    );
  });
});

describe('retry information of an error', () => {
  test('P-13 retryable counts only when it is exactly true', () => {
    expect(isRetryable(Object.assign(new Error('busy'), { retryable: true }))).toBe(true);
    expect(isRetryable({ retryable: true })).toBe(true);
    for (const thrown of [new Error('no'), { retryable: 'yes' }, { retryable: 1 }, 'retryable', undefined, hostile]) {
      expect(isRetryable(thrown)).toBe(false);
    }
  });

  test('a wait must be a finite number that is not negative', () => {
    expect(retryAfterMsOf({ retryAfterMs: 0 })).toBe(0);
    expect(retryAfterMsOf(new GoondanError('E_MODEL_FAILED', 'busy', { retryAfterMs: 250 }))).toBe(250);
    for (const retryAfterMs of [-1, Number.NaN, Infinity, '5', null, undefined]) {
      expect(retryAfterMsOf({ retryAfterMs })).toBeUndefined();
    }
  });
});
