import { afterAll, expect, test } from '../testing/with-postgres.ts';
import { sampleStep } from '../../../../test/samples.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { counterMutants } from './mutants/counter-mutants.ts';
import { withMutant } from './mutants/try-mutant.ts';
import { simulateCounters } from './simulate-counters.ts';

const made = await makeTestDatabase();

afterAll(() => made.drop());

test('Y-04 S-02 a budget is never exceeded, and loses no more than calls that had begun, after a fault at any statement', async () => {
  const asked = sampleStep === 1 ? { seeds: [0, 1, 2, 3], step: 5 } : { seeds: [0], step: 17 };
  const { points, problems } = await simulateCounters(made.address, asked);
  expect(problems).toEqual([]);
  expect(points).toBeGreaterThan(sampleStep === 1 ? 150 : 10);
}, 240_000);

// `npm run torture -- cluster` tries all points of five seeds. `npm test` tries one mutant, and `npm run proof` all of them.
test.each(counterMutants.slice(0, sampleStep === 1 ? undefined : 1))(
  'the simulation of counters catches the mutant "$name"',
  async (mutant) => {
    const problems = await withMutant(mutant, async (folder) => {
      // Safe: this is a copy of the module with this type.
      const copy = (await import(`${folder}/simulate-counters.ts`)) as typeof import('./simulate-counters.ts');
      const asked = { seeds: [0, 1, 2], step: 5, isFirstEnough: true };
      return (await copy.simulateCounters(made.address, asked)).problems;
    });
    expect(problems.length).toBeGreaterThan(0);
  },
  120_000,
);
