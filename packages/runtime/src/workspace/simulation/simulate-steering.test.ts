import { expect, test } from 'bun:test';
import { samples, sampleStep } from '../../../../../test/samples.ts';
import { steeringMutants } from './mutants/steering-mutants.ts';
import { tryMutant } from './mutants/try-mutant.ts';
import { simulateSteering } from './simulate-steering.ts';

const MINUTES = 60_000;
/** One of so many operations is tried. */
const STEP = sampleStep === 1 ? 1 : 8 * sampleStep;

test(
  'Y-08 inputs that turns take are kept once, killed or without power at any operation, and again during recovery',
  async () => {
    let taken = 0;
    let points = 0;
    for (let seed = 0; seed < samples(8, 2); seed += 1) {
      const report = await simulateSteering(seed, { step: STEP });
      expect(report.problems).toEqual([]);
      taken += report.taken;
      points += report.crashPoints;
    }
    expect(taken).toBeGreaterThan(5);
    expect(points).toBeGreaterThan(30);
  },
  3 * MINUTES,
);

test.each(
  steeringMutants.filter((_, index) => index % sampleStep === 0).map((mutant) => [mutant.name, mutant] as const),
)(
  'the mutant is caught: %s',
  async (_, mutant) => {
    expect((await tryMutant(mutant, [])).caughtBy).toBeDefined();
  },
  MINUTES,
);
