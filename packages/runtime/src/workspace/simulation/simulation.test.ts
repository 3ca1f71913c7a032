/** Proves the promises of docs/storage.md. `npm run torture -- journal` and `npm run torture -- mutants` run more cases. */
import { expect, test } from 'bun:test';
import { availableParallelism } from 'node:os';
import { samples, sampleStep } from '../../../../../test/samples.ts';
import { tryDamages } from './damage.ts';
import { logFileMutants } from './mutants/log-file-mutants.ts';
import { mutants } from './mutants/mutants.ts';
import { tryMutant } from './mutants/try-mutant.ts';
import { replay } from './simulate.ts';
import { simulateAgentKill } from './simulate-agent-kill.ts';
import { simulateCommitRace } from './simulate-commit-race.ts';
import { simulateFaults } from './simulate-faults.ts';
import { describeViolation, simulateSeeds } from './simulate-seeds.ts';

const MINUTES = 60_000;

const CRASH_POINTS = samples(12_500);

test(
  `M-11 killed or without power at any of ${CRASH_POINTS / 2} points, and again during recovery: nothing is lost, nothing is applied twice`,
  async () => {
    // A second thread would compile everything again, and takes the processor from other test files.
    const threads = sampleStep === 1 ? availableParallelism() : 1;
    const { crashPoints, violations } = await simulateSeeds({ from: 0, crashPoints: CRASH_POINTS, threads });
    expect(violations.map(describeViolation)).toEqual([]);
    expect(crashPoints).toBeGreaterThanOrEqual(CRASH_POINTS);
  },
  3 * MINUTES,
);

test('a replayed crash point has the same result', async () => {
  const point = { seed: 3, operation: 20, mode: 'power' } as const;
  expect([await replay(point), await replay(point)]).toEqual([undefined, undefined]);
});

test(
  'M-11 the agent killed at any operation while the orchestrator lives on',
  async () => {
    // The seed 5 resets an instance in the middle of a turn.
    for (const seed of [0, 1, 2, 5]) {
      const { kills, problems } = await simulateAgentKill(seed, sampleStep);
      expect(problems).toEqual([]);
      expect(kills).toBeGreaterThan(samples(100));
    }
  },
  MINUTES,
);

test(
  'events stay in the inbox until the commit of their turn is durable',
  async () => {
    const { crashes, problems } = await simulateCommitRace();
    expect(problems).toEqual([]);
    expect(crashes).toBeGreaterThan(100);
  },
  MINUTES,
);

test.each([
  ['ENOSPC', 1, 'E_DISK_FULL', 3],
  ['EIO', 3, 'E_STORE_WRITE', 3],
  ['EACCES', 1, 'E_STORE_READ', 3],
  // The seed 5 has resets, one of them in the middle of a turn.
  ['EIO', 2, 'E_STORE_WRITE', 5],
] as const)(
  'a disk that fails with %s at any operation, %i in a row: an error code, nothing lost, and work continues',
  async (code, often, expected, seed) => {
    const { codes, problems, faults } = await simulateFaults(seed, code, often, sampleStep);
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(samples(100));
    expect(codes.get(expected)).toBeGreaterThan(samples(50));
    const known = ['E_DISK_FULL', 'E_LOCKED', 'E_STORE_READ', 'E_STORE_WRITE'];
    for (const reported of codes.keys()) expect(known).toContain(reported);
  },
  MINUTES,
);

test(
  'M-11 torn and damaged files, each in many ways: repaired with a warning, or an error code and the file kept aside',
  async () => {
    const { cases, endings, problems } = await tryDamages(sampleStep);
    expect(problems).toEqual([]);
    expect(cases).toBeGreaterThan(samples(2000));
    expect(endings.get('repaired')).toBeGreaterThan(samples(400));
    expect(endings.get('E_STORE_CORRUPT')).toBeGreaterThan(samples(500));
  },
  MINUTES,
);

const quickMutants = [...mutants, ...logFileMutants]
  .filter(({ isQuick }) => isQuick)
  .filter((_, index) => index % sampleStep === 0);

test.each(quickMutants.map((mutant) => [mutant.name, mutant] as const))(
  'the mutant is caught: %s',
  async (_, mutant) => {
    expect((await tryMutant(mutant, [1, 2, 3])).caughtBy).toBeDefined();
  },
  MINUTES,
);
