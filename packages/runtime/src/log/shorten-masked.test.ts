import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { defaultDiffLimits, diffJson } from '../json/diff-json.ts';
import { maskSecrets } from './mask-secrets.ts';
import { shortenMasked } from './shorten-masked.ts';

const secret = 'swordfish-7"\n-swordfish';

test('no part of a secret is left, wherever a value is cut', () => {
  const shorten = shortenMasked(maskSecrets([secret]));
  const piece = fc.oneof(fc.constant(secret), fc.string({ maxLength: 30 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 1, max: 120 }), (pieces, longest) => {
      // This skips samples in which another piece contains the beginning of the secret by chance.
      fc.pre(pieces.every((each) => each === secret || !each.includes('swor')));
      for (const value of [pieces.join(' '), { pieces }]) {
        const text = shorten(value, longest);
        expect(text).not.toContain('swor');
        expect(text.replace(/… \(\d+ characters\)$|…$/, '').length).toBeLessThanOrEqual(longest);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a short value is complete; a cut one says so', () => {
  const shorten = shortenMasked(maskSecrets([secret]));
  expect(shorten('abc', 3)).toBe('abc');
  expect(shorten({ a: 1 }, 10)).toBe('{"a":1}');
  expect(shorten('abcd', 3)).toBe('abc… (4 characters)');
  expect(shorten(`a ${secret}`, 5)).toBe('a ***');
});

test('a cut text full of secrets still shows its beginning, and no part of a secret', () => {
  const key = 'sk-live-12345';
  const shorten = shortenMasked(maskSecrets([key]));
  const shown = shorten(`start ${`${key}, `.repeat(500)}`, 60);
  expect(shown).toContain('start ***, ***');
  expect(shown).not.toContain('sk');
});

test('a preview reads little more than it shows, however long the secrets are', () => {
  const key = 'long secret '.repeat(300);
  const read: number[] = [];
  const mask = maskSecrets([key]);
  const counting = Object.assign((text: string) => mask(text), {
    beginning: (text: string) => {
      read.push(text.length);
      return mask.beginning?.(text) ?? '';
    },
  });
  const shorten = shortenMasked(counting);
  expect(shorten('x'.repeat(100_000), 200)).toStartWith('x'.repeat(200));
  expect(read).toEqual([264]);
  expect(shorten({ key, after: 'y'.repeat(100_000) }, 200)).toStartWith('{"key":"***","after":"yyy');
  expect(read.slice(1)).toEqual([264, 4_296]);
  expect(shorten(key.repeat(9), 200)).toBe('***… (32400 characters)');
});

test('a path of a change that is cut does not end with a part of a secret', () => {
  const key = 'sk-live-12345';
  const shorten = shortenMasked(maskSecrets([key]));
  const { changes } = diffJson({}, { ['x'.repeat(292) + key + 'y'.repeat(20)]: 1 }, defaultDiffLimits, shorten);
  expect(changes).toEqual([{ path: `${'x'.repeat(292)}***yyyyy… (325 characters)`, after: '1' }]);
});
