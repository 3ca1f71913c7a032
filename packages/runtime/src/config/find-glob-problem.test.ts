import { expect, test } from 'bun:test';
import { findGlobProblem } from './find-glob-problem.ts';

test.each(['**', 'prompts/*.md', 'skills/**', '{prompts,skills}/**', 'tools/[a-z]*.ts', 'tools/[]{]x.ts', 'a b/c.md'])(
  '%p is a glob of files in a bundle',
  (glob) => expect(findGlobProblem(glob)).toBeUndefined(),
);

test.each([
  ['', 'is empty'],
  ['  ', 'is empty'],
  [' a', 'space'],
  ['/etc/**', 'absolute'],
  ['C:/x', 'absolute'],
  ['../**', '`..`'],
  ['skills/../../x', '`..`'],
  ['./prompts/*.md', 'empty part'],
  ['prompts//x', 'empty part'],
  ['prompts/', 'empty part'],
  ['prompts\\*.md', 'backslash'],
  ['!secret/**', 'every other file'],
  ['tools/[a', '`[`'],
  ['{a,b', '`{`'],
  ['a}', '`}` without'],
  ['}{', '`}` without'],
])('%p is not: it %s', (glob, problem) => expect(findGlobProblem(glob)).toContain(problem));
