import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../../test/samples.ts';
import { maskSecrets, type SecretMask } from './mask-secrets.ts';
import { MASKED, MaskedStream } from './masked-stream.ts';
import { formsOfSecrets } from './secret-forms.ts';

/** Returns the output after each piece, and the output at the end. */
function pass(mask: SecretMask, pieces: readonly string[]): string[] {
  const stream = new MaskedStream(mask);
  return [...pieces.map((piece) => stream.push(piece)), stream.end()];
}

function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const size of sizes) {
    pieces.push(text.slice(from, from + size));
    from += size;
  }
  return [...pieces, text.slice(from)];
}

// There are only a few letters, so that secrets overlap, have the same beginning, or repeat inside themselves.
const letters = fc.constantFrom('a', 'a', 'b', '"', '\\', '\n', '%', 'é', '\ud83d');
const secretText = fc.string({ unit: letters, minLength: 8, maxLength: 14 });
const secretTexts = fc.oneof(
  fc.array(secretText, { minLength: 1, maxLength: 4 }),
  // Some secrets begin with another secret, end with it, overlap it, or have it inside.
  secretText.map((secret) => [secret, `${secret}ab`, secret.slice(0, 8), `${secret.slice(4)}${secret.slice(0, 6)}`]),
  secretText.map((secret) => [secret, `ab${secret}ab`]),
);
const sizes = fc.array(fc.nat({ max: 6 }), { maxLength: 60 });

/** Writes every character as `\\uXXXX`. */
function allEscaped(text: string): string {
  return text
    .split('')
    .map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** Generates a text full of secrets, in several forms. Some of the secrets are broken off. */
function textOf(secrets: readonly string[]): fc.Arbitrary<string> {
  const inJson = (secret: string) => JSON.stringify(secret).slice(1, -1);
  const forms = secrets.flatMap((secret) => [
    secret,
    inJson(secret),
    JSON.stringify({ secret }),
    inJson(inJson(inJson(secret))),
    allEscaped(secret),
    inJson(allEscaped(secret)),
    Buffer.from(`x${secret}`).toString('base64'),
  ]);
  const some = fc.constantFrom(...forms);
  const part = fc.oneof(
    some,
    fc.tuple(some, fc.nat({ max: 12 })).map(([form, length]) => form.slice(0, length)),
    fc.tuple(some, fc.nat({ max: 12 })).map(([form, length]) => form.slice(length)),
    fc.string({ unit: letters, maxLength: 10 }),
  );
  return fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
}

const cases = secretTexts.chain((secrets) => fc.tuple(fc.constant(secrets), textOf(secrets), sizes));

describe('the mask of a text in pieces', () => {
  test('hides a secret that is spread over pieces', () => {
    const mask = maskSecrets(['sk-live-12345']);
    expect(pass(mask, ['key s', 'k-', 'live-1234', '5 and', ' s'])).toEqual(['key ', '', '', '*** and', ' ', 's']);
  });

  test('gives the masked whole text, however it is split', () => {
    fc.assert(
      fc.property(cases, ([secrets, text, lengths]) => {
        const mask = maskSecrets(secrets);
        expect(pass(mask, cut(text, lengths)).join('')).toBe(mask(text));
      }),
      { numRuns: samples(2_000, 10) },
    );
  });

  test('hides every character that is part of a secret, and no other', () => {
    fc.assert(
      fc.property(cases, ([secrets, text]) => {
        const mask = maskSecrets(secrets);
        expect(mask(text)).toBe(maskByHand(text, formsOfSecrets(secrets)).join(''));
      }),
      { numRuns: samples(1_000, 10) },
    );
  });

  test('holds back only a possible beginning of a secret', () => {
    fc.assert(
      fc.property(cases, ([secrets, text, lengths]) => {
        const mask = maskSecrets(secrets);
        const stream = new MaskedStream(mask);
        const forms = formsOfSecrets(secrets);
        let taken = '';
        let shown = '';
        for (const piece of cut(text, lengths)) {
          taken += piece;
          shown += stream.push(piece);
          expect(mask(text)).toStartWith(shown);
          // With escapes, the length of a possible beginning depends on them.
          if (taken.includes('\\')) continue;
          const open = Math.max(...forms.map((form) => beginningAtEnd(taken, form)));
          expect(shown).toBe(
            maskByHand(taken, forms)
              .slice(0, taken.length - open)
              .join(''),
          );
        }
      }),
      { numRuns: samples(500, 10) },
    );
  });

  test('does not hold back a long run of backslashes', () => {
    const stream = new MaskedStream(maskSecrets(['sk-live-12345']));
    expect(stream.push(`s${'\\'.repeat(10_000)}`).length).toBeGreaterThan(9_990);
  });

  test('gives the masked whole text, character by character, when an escaped beginning is long and goes on sliding', () => {
    const mask = maskSecrets([`${'a'.repeat(1_500)}b`]);
    const text = `${'a\\'.repeat(3_200)}b`;
    const shown = pass(mask, text.split('')).join('');
    expect(shown).toBe(mask(text));
    expect(shown).toEndWith('\\***');
  });

  test('starts again after the end', () => {
    const stream = new MaskedStream(maskSecrets(['aaaabbbb']));
    const out = [stream.push('aa'), stream.end(), stream.push('aabbbb'), stream.end()];
    expect(out).toEqual(['', 'aa', 'aabbbb', '']);
  });

  test('broken off, the beginning of a secret is hidden when it has the minimum length of a secret', () => {
    const stream = new MaskedStream(maskSecrets(['sk-live-12345', '12345-and-more']));
    const broken = (text: string) => stream.push(text) + stream.breakOff();
    expect(broken('key sk-live')).toBe('key sk-live');
    expect(broken('key sk-live-')).toBe('key ***');
    // The beginning of the second secret overlaps a secret that is hidden.
    expect(broken('key sk-live-12345-and-mo')).toBe('key ***');
    expect(broken('done')).toBe('done');
  });
});

/**
 * Returns the length of the longest part of the form's beginning with which the text ends. The whole form does not
 * count.
 */
function beginningAtEnd(text: string, form: string): number {
  for (let length = form.length - 1; length > 0; length--) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

/**
 * Returns the expected output, computed character by character: every occurrence of a secret is masked, and overlapping
 * occurrences become one mask.
 */
function maskByHand(text: string, forms: readonly string[]): string[] {
  const isHidden = Array.from(text.split(''), () => false);
  /** True for a character that belongs to the same mask as the character before it. */
  const goesOn = Array.from(text.split(''), () => false);
  const hide = (start: number, end: number) => {
    isHidden.fill(true, start, end);
    goesOn.fill(true, start + 1, end);
  };
  for (let start = 0; start < text.length; start++) {
    for (const form of forms) if (text.startsWith(form, start)) hide(start, start + form.length);
  }
  const read = unescapeByHand(text);
  const readText = read.map(({ character }) => character).join('');
  for (const [index, { start }] of read.entries()) {
    for (const form of forms) {
      const end = read[index + form.length - 1]?.end ?? 0;
      if (readText.startsWith(form, index)) hide(start, end);
    }
  }
  return text.split('').map((character, at) => {
    if (isHidden[at] !== true) return character;
    return goesOn[at] === true ? '' : MASKED;
  });
}

const NOT_IN_A_SECRET = '\u0001';

/** Returns the characters of a text without its escapes, with their places. */
function unescapeByHand(text: string): { character: string; start: number; end: number }[] {
  let runStart = -1;
  return [...text.matchAll(/\\u[0-9a-f]{4}|[^]/gi)].flatMap(({ 0: piece, index: start }) => {
    const isEscape = piece.length === 6;
    const end = start + piece.length;
    const character = isEscape ? String.fromCharCode(Number.parseInt(piece.slice(2), 16)) : piece;
    if (runStart === -1 && piece.startsWith('\\')) runStart = start;
    // The backslash of an escape also counts.
    const length = (character === '\\' ? end : start + 1) - runStart;
    const tooMany = piece.startsWith('\\') && length > 16 ? [{ character: NOT_IN_A_SECRET, start, end }] : [];
    if (character === '\\') return tooMany;
    runStart = -1;
    return [...tooMany, { character, start, end }];
  });
}
