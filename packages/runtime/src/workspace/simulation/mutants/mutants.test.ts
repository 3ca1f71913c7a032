import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logFileMutants } from './log-file-mutants.ts';
import { mutants } from './mutants.ts';
import { steeringMutants } from './steering-mutants.ts';

const workspace = join(import.meta.dir, '../..');

// `npm test` runs only a few mutants. This check makes sure that a refactoring does not disable the others.
test.each([...mutants, ...logFileMutants, ...steeringMutants])(
  'the line that the mutant "$name" changes is there once',
  ({ file, find }) => {
    expect(readFileSync(join(workspace, file), 'utf8').split(find)).toHaveLength(2);
  },
);
