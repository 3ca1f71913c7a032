import { expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { maskSecrets, maskTexts } from '../log/mask-secrets.ts';
import { encodeMasked, encodeTraceLine } from './encode-trace-line.ts';
import type { TraceLine } from './trace-lines.ts';

const secret = 'canary "4711"\ncanary';
const mask = maskSecrets([secret, 'plain-secret']);

const lineWith = (error: string): TraceLine => ({
  type: 'end',
  time: '1970-01-01T00:00:01.000Z',
  durationMs: 1,
  finishReason: 'error',
  stepCount: 1,
  error,
});

test('encodeMasked masks each text as maskTexts does, whatever forms and escapes are around it', () => {
  const piece = fc.constantFrom(
    secret,
    'plain-secret',
    JSON.stringify(secret),
    JSON.stringify(JSON.stringify(secret)),
    'a',
    '"',
    '\\',
    '\n',
    'é',
    '4711',
  );
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, (error) => {
      const line = lineWith(error);
      const masked = maskTexts(line as never, mask) as unknown as TraceLine;
      expect(encodeMasked(line, mask)).toBe(encodeTraceLine(masked));
    }),
  );
});

test('no secret is left of an object with a class or a `toJSON`, in any place of an effect', () => {
  class Token {
    constructor(readonly token: string) {}
  }
  const holder = fc.constantFrom(
    new Token('plain-secret'),
    new Token(secret),
    new URL('https://example.com/?token=plain-secret'),
    { toJSON: () => ({ hidden: ['plain-secret', secret] }) },
    Object.assign(new Map(), { extra: 'plain-secret' }),
    'plain-secret',
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      holder,
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('any'), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, (outcome) => {
      const line = { type: 'effect', key: 'k', kind: 'tool', asked: null, outcome: { ok: true, value: outcome } };
      const text = encodeMasked(line as unknown as TraceLine, mask);
      expect(text).not.toContain('plain-secret');
      expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(JSON.parse(text)).toMatchObject({ type: 'effect', key: 'k' });
    }),
  );
});

test('a number is masked only in an effect, whose values are not those of the runtime', () => {
  const numbers = maskSecrets(['12345678']);
  expect(encodeMasked({ ...lineWith('no'), stepCount: 12_345_678 } as TraceLine, numbers)).toContain(':12345678,');
  const effect: TraceLine = { type: 'effect', key: 'k', kind: 'tool', asked: { account: 12_345_678 } };
  expect(encodeMasked(effect, numbers)).toContain('{"account":"***"}');
});

test('a line with escapes and without a secret is encoded once, and not parsed', () => {
  const stringify = spyOn(JSON, 'stringify');
  const parse = spyOn(JSON, 'parse');
  try {
    expect(encodeMasked(lineWith('a "quoted" word'), mask)).toContain('a \\"quoted\\" word');
    expect([stringify.mock.calls.length, parse.mock.calls.length]).toEqual([1, 0]);
  } finally {
    stringify.mockRestore();
    parse.mockRestore();
  }
});
