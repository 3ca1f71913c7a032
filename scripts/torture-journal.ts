/**
 * Crashes the journal at more than a hundred thousand points, or once more at one given point.
 *
 * npm run torture -- journal [--points N] [--from SEED] [--threads N]
 * npm run torture -- journal --seed N --operation N --mode kill|power
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { replay } from '../packages/runtime/src/workspace/simulation/simulate.ts';
import { describeViolation, simulateSeeds } from '../packages/runtime/src/workspace/simulation/simulate-seeds.ts';

const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '200000' },
    from: { type: 'string', default: '0' },
    threads: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string' },
    operation: { type: 'string' },
    mode: { type: 'string' },
  },
});

if (values.seed !== undefined) {
  const mode = values.mode === 'power' ? 'power' : 'kill';
  const problem = await replay({ seed: Number(values.seed), operation: Number(values.operation ?? 0), mode });
  console.log(problem ?? 'nothing is wrong at this point');
  process.exit(problem === undefined ? 0 : 1);
}

const started = performance.now();
const seconds = () => ((performance.now() - started) / 1000).toFixed(0);
let reported = 0;
const { crashPoints, seeds, violations } = await simulateSeeds({
  from: Number(values.from),
  crashPoints: Number(values.points),
  threads: Number(values.threads),
  onProgress(tried) {
    if (tried - reported < 10_000) return;
    reported = tried;
    console.log(`${tried} crash points, ${seconds()} s`);
  },
});
for (const violation of violations.slice(0, 10)) console.log(describeViolation(violation));
console.log(
  `${crashPoints} crash points of ${seeds} seeds, each followed by a second crash: ${violations.length} violations`,
);
process.exit(violations.length === 0 ? 0 : 1);
