import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { compileGlob, compileRegex, LONGEST_TEXT } from './compile-pattern.ts';

describe('a glob', () => {
  test.each([
    ['bash__*', 'bash__exec', true],
    ['bash__*', 'bash_exec', false],
    ['*', '', true],
    ['git ?ush*', 'git push --force', true],
    ['git status*', 'say git status', false],
    ['a.b', 'axb', false],
    ['[a]', '[a]', true],
    ['*.ts', 'a\nb.ts', true],
    ['?', '🙂', true],
    ['', '', true],
    ['', 'x', false],
    ['rm*-rf*/', 'rm \u202e -rf /', true],
  ])('%s and %p: %p', (glob, text, expected) => {
    expect(compileGlob(glob)(text)).toBe(expected);
  });
});

describe('a regular expression', () => {
  test.each([
    ['^rm\\b', 'rm -rf', true],
    ['^rm\\b', 'rmdir x', false],
    ['a|b|c', 'xxc', true],
    ['^(?:git|hg) (?:pull|push)$', 'hg push', true],
    ['^(?:git|hg) (?:pull|push)$', 'hg push ', false],
    ['^a{2,3}$', 'aaaa', false],
    ['^a{2,}$', 'aaaa', true],
    ['^a{2}$', 'aa', true],
    ['^[^\\s;|&]+$', 'ls -l', false],
    ['^[\\w./-]+$', 'src/a-b.ts', true],
    ['[a-c]', 'D', false],
    ['[\\]\\\\-]', ']', true],
    ['\\x41\\u0042\\u{43}', 'ABC', true],
    ['a.c', 'a\nc', false],
    ['x*?y', 'xxy', true],
    ['{', '{', true],
    ['a{,3}', 'a{,3}', true],
    ['', '', true],
  ])('%s and %p: %p', (source, text, expected) => {
    expect(compileRegex(source)(text)).toBe(expected);
    expect(new RegExp(source, source.includes('u{') ? 'u' : '').test(text)).toBe(expected);
  });

  test.each([
    '(?=a)',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)',
    '\\p{L}',
    '(a',
    'a)',
    '[a',
    'a**',
    '*a',
    '[z-a]',
    'a{3,2}',
    'a{1001}',
    '\\',
    '^*',
  ])('is rejected with a reason when it is not supported: %s', (source) => {
    expect(() => compileRegex(source)).toThrow(/regular expression/);
  });

  test('is rejected when it needs too long a program', () => {
    expect(() => compileRegex('(?:a{50}){50}')).toThrow('is too long');
  });

  test('agrees with JavaScript on all kinds of texts', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\d',
      '\\w',
      '\\b',
      '^',
      '$',
      ' ',
      '\\n',
      '(?:a|b)',
      '(ab|)',
    );
    const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{1,}', '*?');
    const piece = fc
      .tuple(atom, quantifier)
      .map(([what, many]) => (['\\b', '^', '$'].includes(what) ? what : what + many));
    const source = fc
      .array(
        fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
        { minLength: 1, maxLength: 3 },
      )
      .map((options) => options.join('|'));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ab', '1', ' ', '\n', '_'), maxLength: 8 });
    fc.assert(
      fc.property(source, text, (regex, subject) => {
        expect(compileRegex(regex)(subject)).toBe(new RegExp(regex).test(subject));
      }),
      { numRuns: 3_000 },
    );
  });

  test('does not explode where a backtracking matcher does, and skips texts that are too long', () => {
    const evil = compileRegex('^(?:a+)+(?:a*)*$');
    expect(evil(`${'a'.repeat(5_000)}!`)).toBe(false);
    expect(evil('a'.repeat(LONGEST_TEXT))).toBe(true);
    expect(evil('a'.repeat(LONGEST_TEXT + 1))).toBeUndefined();
  });
});
