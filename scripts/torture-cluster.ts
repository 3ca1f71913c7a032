/**
 * Breaks a swarm in PostgreSQL before and after its statements, at thousands of points, or once more at one given point.
 * It starts a PostgreSQL of its own.
 *
 * npm run torture -- cluster [--points N] [--from SEED] [--each POINTS-OF-A-SEED] [--width N]
 * npm run torture -- cluster --seed N --point N --fault 'die before|die after|cut before|cut after|echo|late|kill'
 * npm run torture -- cluster --mutants [NAME …]      deliberate mistakes, which must be found
 */
import { parseArgs } from 'node:util';
import { faults } from '../packages/postgres/src/simulation/simulated-database.ts';
import { type Mutant, mutants } from '../packages/postgres/src/simulation/mutants/mutants.ts';
import { tryMutant } from '../packages/postgres/src/simulation/mutants/try-mutant.ts';
import { describeViolation, repeatPoint, simulatePoints } from '../packages/postgres/src/simulation/simulate-points.ts';
import { simulateCounters } from '../packages/postgres/src/simulation/simulate-counters.ts';
import { simulateSteering } from '../packages/postgres/src/simulation/simulate-steering.ts';
import { simulateOrder } from '../packages/postgres/src/simulation/simulate-order.ts';
import { makeTestDatabase } from '../packages/postgres/src/testing/test-database.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    points: { type: 'string', default: '10000' },
    from: { type: 'string', default: '0' },
    each: { type: 'string' },
    width: { type: 'string' },
    seed: { type: 'string' },
    point: { type: 'string', default: '1' },
    fault: { type: 'string', default: 'die before' },
    mutants: { type: 'boolean', default: false },
  },
});
/** The points after which a mutant counts as survived. */
const MUTANT_POINTS = 2000;
/** The seeds of the simulation of steering, and the part of their points that is tried: one of so many. */
const STEERING_SEEDS = 10;
const STEERING_STEP = 5;
const COUNTER_SEEDS = 5;
const { address } = await makeTestDatabase();
const started = performance.now();
const seconds = () => ((performance.now() - started) / 1000).toFixed(0);

process.exit(await run());

async function run(): Promise<number> {
  if (values.mutants) return tryMutants();
  return values.seed === undefined ? torture() : repeat(Number(values.seed));
}

async function repeat(seed: number): Promise<number> {
  const fault = [...faults, 'kill' as const].find((each) => each === values.fault);
  if (fault === undefined) throw new Error(`--fault is one of ${faults.join(', ')}, kill`);
  const problem = await repeatPoint(address, { seed, at: Number(values.point), fault });
  console.log(problem ?? 'nothing is wrong at this point');
  return problem === undefined ? 0 : 1;
}

async function torture(): Promise<number> {
  let reported = 0;
  const {
    points,
    seeds: tried,
    violations,
  } = await simulatePoints({
    address,
    from: Number(values.from),
    points: Number(values.points),
    ...(values.each !== undefined && { pointsOfSeed: Number(values.each) }),
    ...(values.width !== undefined && { width: Number(values.width) }),
    onProgress(count) {
      if (count - reported < 1000) return;
      reported = count;
      console.log(`${count} points, ${seconds()} s`);
    },
  });
  for (const violation of violations.slice(0, 10)) console.log(describeViolation(violation));
  const followed = 'each followed by a second fault';
  console.log(`${points} points of ${tried} seeds, ${followed}: ${violations.length} violations, ${seconds()} s`);
  const { points: orders, problems } = await simulateOrder(address);
  for (const problem of problems.slice(0, 10)) console.log(problem);
  console.log(`${orders} points of input at two nodes: ${problems.length} violations, ${seconds()} s`);
  const steered = Array.from({ length: STEERING_SEEDS }, (_, seed) => seed);
  const steering = await simulateSteering(address, { seeds: steered, step: STEERING_STEP });
  for (const problem of steering.problems.slice(0, 10)) console.log(problem);
  console.log(`${steering.points} points of steering: ${steering.problems.length} violations, ${seconds()} s`);
  const seeds = Array.from({ length: COUNTER_SEEDS }, (_, seed) => seed);
  const counters = await simulateCounters(address, { seeds });
  for (const problem of counters.problems.slice(0, 10)) console.log(problem);
  console.log(`${counters.points} points of counters: ${counters.problems.length} violations, ${seconds()} s`);
  const all = [violations, problems, steering.problems, counters.problems];
  return all.every(({ length }) => length === 0) ? 0 : 1;
}

async function tryMutants(): Promise<number> {
  const isWanted = ({ name }: Mutant) => positionals.length === 0 || positionals.some((word) => name.includes(word));
  let survivors = 0;
  for (const mutant of mutants.filter(isWanted)) {
    const before = performance.now();
    const { caughtBy, problem } = await tryMutant(mutant, address, MUTANT_POINTS);
    const took = ((performance.now() - before) / 1000).toFixed(1);
    console.log(`${mutant.name.padEnd(72)} ${(caughtBy ?? 'SURVIVED').padEnd(24)} ${took.padStart(6)} s  ${problem}`);
    if (caughtBy === undefined) survivors += 1;
  }
  console.log(`${mutants.filter(isWanted).length} mutants, ${survivors} survived, ${seconds()} s`);
  return survivors === 0 ? 0 : 1;
}
