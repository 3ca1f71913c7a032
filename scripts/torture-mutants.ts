/**
 * Prints the seed that catches each mutant of the journal. Fails when a mutant survives.
 *
 * npm run torture:mutants -- [NAME …]      those whose name contains one of these words
 */
import { mutants } from '../packages/runtime/src/workspace/simulation/mutants/mutants.ts';
import { tryMutant } from '../packages/runtime/src/workspace/simulation/mutants/try-mutant.ts';

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

const wanted = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
let survivors = 0;
for (const mutant of chosen) {
  const started = performance.now();
  const { caughtBy, problem } = await tryMutant(mutant, SEEDS);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${mutant.name.padEnd(75)} ${(caughtBy ?? 'SURVIVED').padEnd(34)} ${seconds.padStart(6)} s  ${problem}`);
  if (caughtBy === undefined) survivors += 1;
}
console.log(`${chosen.length} mutants, ${survivors} survived`);
process.exit(survivors === 0 ? 0 : 1);
