import { expect, test } from 'bun:test';
import { describeFiles } from './describe-files.ts';

test('a changed file is shown with three lines of context', async () => {
  const [file] = await describeFiles([
    { path: 'a.md', change: 'changed', old: '1\n2\n3\n4\n5\n6\n7\n8\n', new: '1\n2\n3\n4\nfive\n6\n7\n8\n' },
  ]);
  expect(file).toEqual({
    path: 'a.md',
    change: 'changed',
    diff: '--- a/a.md\n+++ b/a.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
  });
});

test('an added file and a deleted one are shown line by line, sorted by path', async () => {
  const files = await describeFiles([
    { path: 'new.ts', change: 'added', old: null, new: 'one\ntwo' },
    { path: 'gone.ts', change: 'deleted', old: 'one\n', new: null },
  ]);
  expect(files.map(({ diff }) => diff)).toEqual([
    '--- a/gone.ts\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n',
    '--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n',
  ]);
});

test('a file that was edited by hand says so and shows all of the new content', async () => {
  const [file] = await describeFiles([{ path: 'a.md', change: 'changed', new: 'two\n' }]);
  expect(file?.diff).toContain('a.md was edited by hand');
  expect(file?.diff).toContain('+two');
});
