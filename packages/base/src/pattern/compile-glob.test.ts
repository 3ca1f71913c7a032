import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compileGlob, LONGEST_TEXT } from './compile-glob.ts';

describe('a glob', () => {
  test.each([
    ['bash__*', 'bash__exec', true],
    ['bash__*', 'bash_exec', false],
    ['*', '', true],
    ['rm *', 'rm -rf /x', true],
    ['git ?ush*', 'git push --force', true],
    ['git status*', 'say git status', false],
    ['a.b', 'axb', false],
    ['[a]', '[a]', true],
    ['*.ts', 'a\nb.ts', true],
    ['?', '🙂', true],
    ['?', '', false],
    ['', '', true],
    ['', 'x', false],
    ['rm*-rf*/', 'rm \u202e -rf /', true],
  ])('%s and %p: %p', (glob, text, expected) => {
    expect(compileGlob(glob)(text)).toBe(expected);
  });

  test('matches the same texts as the regular expression with the same meaning', () => {
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '🙂', '*', '*', '?'), maxLength: 9 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '🙂', '\n'), maxLength: 9 });
    const partOf = (character: string) => ({ '*': '[^]*', '?': '[^]' })[character] ?? character;
    fc.assert(
      fc.property(glob, text, (pattern, subject) => {
        const expression = new RegExp(`^${Array.from(pattern, partOf).join('')}$`, 'u');
        expect(compileGlob(pattern)(subject)).toBe(expression.test(subject));
      }),
      { numRuns: 3_000 },
    );
  });

  test('gives no answer when the work is used up, at the beginning or on the way', () => {
    const fits = compileGlob('*ab');
    const text = 'a'.repeat(100) + 'b';
    for (const left of [0, 100, 101, 150]) expect(fits(text, { left })).toBeUndefined();
    expect(fits(text, { left: 400 })).toBe(true);
  });

  test('does not explode where a backtracking matcher does, and skips texts that are too long', () => {
    const evil = compileGlob(`${'*a'.repeat(400)}*b`);
    expect(evil('a'.repeat(LONGEST_TEXT))).toBe(false);
    expect(evil(`${'a'.repeat(LONGEST_TEXT - 1)}b`)).toBe(true);
    expect(evil('a'.repeat(LONGEST_TEXT + 1))).toBeUndefined();
  });

  test('is rejected when it is too long', () => {
    expect(compileGlob('🙂'.repeat(999))('🙂'.repeat(999))).toBe(true);
    expect(() => compileGlob('a'.repeat(1000))).toThrow('is too long');
  });
});
