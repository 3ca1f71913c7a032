import { expect, test } from 'bun:test';
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

test('a number is masked only in an effect, whose values are not those of the runtime', () => {
  const numbers = maskSecrets(['12345678']);
  expect(encodeMasked({ ...lineWith('no'), stepCount: 12_345_678 } as TraceLine, numbers)).toContain(':12345678,');
  const effect: TraceLine = { type: 'effect', key: 'k', kind: 'tool', asked: { account: 12_345_678 } };
  expect(encodeMasked(effect, numbers)).toContain('{"account":"***"}');
});
