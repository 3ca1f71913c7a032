import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { unifiedDiff } from './unified-diff.ts';

test('shows changed lines with three lines of context, and separate places as separate hunks', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  const changed = lines.map((line) => (line === 'line 3' ? 'third' : line)).filter((line) => line !== 'line 15');
  expect(unifiedDiff('a.md', `${lines.join('\n')}\n`, `${changed.join('\n')}\n`)).toBe(
    [
      '--- a/a.md',
      '+++ b/a.md',
      '@@ -1,6 +1,6 @@',
      ' line 1',
      ' line 2',
      '-line 3',
      '+third',
      ' line 4',
      ' line 5',
      ' line 6',
      '@@ -12,7 +12,6 @@',
      ' line 12',
      ' line 13',
      ' line 14',
      '-line 15',
      ' line 16',
      ' line 17',
      ' line 18',
      '',
    ].join('\n'),
  );
});

test.each([
  ['a new file', null, 'x\n', '--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+x\n'],
  ['a new file without lines', null, '', '--- /dev/null\n+++ b/f\n'],
  ['a deleted file', 'x\n', null, '--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n'],
  [
    'a lost line break at the end',
    'x\n',
    'x',
    '--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file\n',
  ],
  ['equal texts', 'x\n', 'x\n', ''],
])('shows %s', (_what, before, after, shown) => {
  expect(unifiedDiff('f', before, after)).toBe(shown);
});

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', '\n', ' c\n', '-d\n', '+e\n', '\\ f\n', '\r\n', 'a'))
  .map((lines) => lines.join(''));

test('makes the new text from the old one, for any two texts', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(patch(before, unifiedDiff('f', before, after))).toBe(after);
    }),
    { numRuns: samples(500) },
  );
});

test('replaces the whole block if too many lines differ', () => {
  const many = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word} ${index}\n`).join('');
  const diff = unifiedDiff('f', many('old'), many('new'));
  expect(diff.split('\n').filter((line) => line.startsWith('@@'))).toEqual(['@@ -1,3000 +1,3000 @@']);
  expect(patch(many('old'), diff)).toBe(many('new'));
});

/** Applies a difference, and checks that the removed and unchanged lines are those of the old text. */
function patch(before: string, diff: string): string {
  const old = before === '' ? [] : before.split(/(?<=\n)/);
  const result: string[] = [];
  let next = 0;
  const lines = diff.replaceAll('\n\\ No newline at end of file\n', '\f').split(/(?<=[\n\f])/);
  for (const line of lines.slice(2)) {
    const hunk = /^@@ -(\d+),(\d+)/.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      result.push(...old.slice(next, start));
      next = start;
      continue;
    }
    const content = line.slice(1).replace('\f', '');
    if (line[0] !== '+') expect(content).toBe(old[next++] ?? '');
    if (line[0] !== '-') result.push(content);
  }
  return [...result, ...old.slice(next)].join('');
}
