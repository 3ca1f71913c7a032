import { afterAll, expect, test } from '../../testing/with-postgres.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleStep } from '../../../../../test/samples.ts';
import { makeTestDatabase } from '../../testing/test-database.ts';
import { mutants } from './mutants.ts';
import { tryMutant } from './try-mutant.ts';

const made = await makeTestDatabase();

afterAll(() => made.drop());

// `npm test` tries one mutant, and `npm run proof` the quick ones. `npm run torture -- cluster` tries all. This check makes
// sure that a refactoring does not disable the others.
test.each([...mutants])('the text that the mutant "$name" changes is there once', ({ file, find }) => {
  expect(readFileSync(join(import.meta.dir, '../..', file), 'utf8').split(find)).toHaveLength(2);
});

test.each(mutants.filter(({ isQuick }) => isQuick).slice(0, sampleStep === 1 ? undefined : 1))(
  'the simulation catches the mutant "$name"',
  async (mutant) => {
    const { caughtBy } = await tryMutant(mutant, made.address, 200);
    expect(caughtBy).toBeDefined();
  },
  60_000,
);
