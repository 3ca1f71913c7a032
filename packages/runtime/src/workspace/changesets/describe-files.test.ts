import { expect, test } from 'bun:test';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { describeFiles } from './describe-files.ts';

test('a changed file is shown with three lines of context', () => {
  const [file] = describeFiles([
    { path: 'a.md', change: 'changed', old: '1\n2\n3\n4\n5\n6\n7\n8\n', new: '1\n2\n3\n4\nfive\n6\n7\n8\n' },
  ]);
  expect(file).toEqual({
    path: 'a.md',
    change: 'changed',
    diff: '--- a/a.md\n+++ b/a.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
  });
});

test('an added file and a deleted one are shown line by line, sorted by path', () => {
  const files = describeFiles([
    { path: 'new.ts', change: 'added', old: null, new: 'one\ntwo' },
    { path: 'gone.ts', change: 'deleted', old: 'one\n', new: null },
  ]);
  expect(files.map(({ diff }) => diff)).toEqual([
    '--- a/gone.ts\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n',
    '--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n',
  ]);
});

test('a file whose old content is not known says so and shows all of the new content', () => {
  const [file] = describeFiles([{ path: 'a.md', change: 'changed', new: 'two\n' }]);
  expect(file?.diff).toContain('old content of a.md is not known');
  expect(file?.diff).toContain('+two');
});

test('a file with very many changed lines is shown as a whole', () => {
  const lines = (word: string) => Array.from({ length: 3_000 }, (_, index) => `${word} ${index}\n`).join('');
  const [file] = describeFiles([{ path: 'a.md', change: 'changed', old: lines('old'), new: lines('new') }]);
  expect(file?.diff.split('\n').filter((line) => line.startsWith('-old'))).toHaveLength(3_000);
  expect(applyPatch(lines('old'), file?.diff ?? '')).toBe(lines('new'));
});

test('the old content with the diff is the new content, whatever the texts are', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '', ' c', '-d', '+e', '\\ f', '\t')).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (old, after) => {
      const [file] = describeFiles([{ path: 'a.md', change: 'changed', old, new: after }]);
      expect(applyPatch(old, file?.diff ?? '')).toBe(after);
    }),
    { numRuns: samples(300) },
  );
});
