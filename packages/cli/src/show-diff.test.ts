import { describe, expect, test } from 'bun:test';
import { createColors } from './colors.ts';
import { showDiff, summarizeDiffs } from './show-diff.ts';

const changed = {
  path: 'a.yaml',
  change: 'changed',
  diff: '--- a/a.yaml\n+++ b/a.yaml\n@@ -1,3 +1,3 @@\n spec:\n--- gone\n+++ here\n \\ No newline at end of file\n',
} as const;
const texts = (files: Parameters<typeof summarizeDiffs>[0], most?: number) =>
  summarizeDiffs(files, most).lines.map(({ text }) => text);

describe('the difference of files for a person', () => {
  test('names each file with its number of lines, and keeps lines that look like names of files', () => {
    expect(summarizeDiffs([changed])).toEqual({
      lines: [
        { text: 'changed  a.yaml  (+1 -1)', tone: 'file' },
        { text: '@@ -1,3 +1,3 @@', tone: 'place' },
        { text: ' spec:', tone: 'plain' },
        { text: '--- gone', tone: 'deleted' },
        { text: '+++ here', tone: 'added' },
        { text: ' \\ No newline at end of file', tone: 'plain' },
      ],
      left: 0,
    });
    const diff = '--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n';
    expect(texts([{ path: 'b', change: 'deleted', diff }])[0]).toBe('deleted  b  (-1)');
    expect(texts([{ path: 'empty', change: 'added', diff: '--- /dev/null\n+++ b/empty\n' }])[0]).toBe('added  empty');
  });

  test('shows every file, counts the lines that do not fit, and cuts long lines', () => {
    const many = { path: 'many', change: 'added', diff: `@@ -0,0 +1,9 @@\n${'+x\n'.repeat(9)}` } as const;
    const { lines, left } = summarizeDiffs([many, changed], 4);
    expect(lines.map(({ text }) => text)).toEqual([
      'added  many  (+9)',
      '@@ -0,0 +1,9 @@',
      '+x',
      '+x',
      '+x',
      'changed  a.yaml  (+1 -1)',
    ]);
    expect(left).toBe(6 + 5);
    const long = { path: 'long', change: 'added', diff: `@@ -0,0 +1 @@\n+${'y'.repeat(1_000)}` } as const;
    expect(texts([long]).at(-1)).toEndWith('y… and 601 characters more');
    const whole = `+${'y'.repeat(399)}`;
    expect(texts([{ ...long, diff: `@@ -0,0 +1 @@\n${whole}` }]).at(-1)).toBe(whole);
  });

  test('shows the words before the names of the files, and lines that look like names without names', () => {
    const tones = (diff: string) =>
      summarizeDiffs([{ path: 'a', change: 'changed', diff }]).lines.map(({ tone }) => tone);
    expect(tones('- not known\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n+x\n').slice(1)).toEqual(['plain', 'place', 'added']);
    expect(tones('@@ -1,2 +1,2 @@\n--- gone\n+++ here\n same\n').slice(1)).toEqual([
      'place',
      'deleted',
      'added',
      'plain',
    ]);
  });

  test('writes out invisible characters and control characters', () => {
    const diff = '@@ -0,0 +1 @@\n+\u001b[2K\u202e\u200b\tx\r';
    const shown = texts([{ path: '\u001b[1Aa', change: 'added', diff }]);
    expect(shown).toEqual(['added  \\u001b[1Aa  (+1)', '@@ -0,0 +1 @@', '+\\u001b[2K\\u202e\\u200b\tx\\u000d']);
  });

  test('is whole in `gdn changes show`, with colours if the terminal has them', () => {
    const colors = createColors(true);
    expect(showDiff(changed.diff, createColors(false))).toBe(changed.diff);
    expect(showDiff(changed.diff, colors).split('\n').slice(0, 6)).toEqual([
      colors.bold('--- a/a.yaml'),
      colors.bold('+++ b/a.yaml'),
      colors.cyan('@@ -1,3 +1,3 @@'),
      ' spec:',
      colors.red('--- gone'),
      colors.green('+++ here'),
    ]);
    const long = `@@ -0,0 +1 @@\n+${'\t'.repeat(1_000)}\n`;
    expect(showDiff(long, createColors(false))).toBe(long);
  });
});
