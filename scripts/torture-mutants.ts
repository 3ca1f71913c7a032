/**
 * Prints the seed that catches each mutant of the journal, and the test that catches each mutant of another rule. Fails
 * when a mutant survives.
 *
 * npm run torture -- mutants [NAME …]      those whose name contains one of these words
 */
import { logFileMutants } from '../packages/runtime/src/workspace/simulation/mutants/log-file-mutants.ts';
import { steeringMutants } from '../packages/runtime/src/workspace/simulation/mutants/steering-mutants.ts';
import { mutants as journalMutants } from '../packages/runtime/src/workspace/simulation/mutants/mutants.ts';
import { tryMutant } from '../packages/runtime/src/workspace/simulation/mutants/try-mutant.ts';
import { ruleMutants } from './mutants/rule-mutants.ts';
import { tryRuleMutant } from './mutants/try-rule-mutant.ts';

const mutants = [...journalMutants, ...logFileMutants, ...steeringMutants];
const SEEDS = Array.from({ length: 60 }, (_, seed) => seed);

const wanted = process.argv.slice(2);
const isWanted = ({ name }: { readonly name: string }) =>
  wanted.length === 0 || wanted.some((word) => name.includes(word));
let survivors = 0;
for (const mutant of mutants.filter(isWanted)) {
  const started = performance.now();
  const { caughtBy, problem } = await tryMutant(mutant, SEEDS);
  print(mutant.name, caughtBy, started, problem);
}
for (const mutant of ruleMutants.filter(isWanted)) {
  const started = performance.now();
  const { isCaught } = await tryRuleMutant(mutant);
  print(mutant.name, isCaught ? 'a test' : undefined, started, isCaught ? mutant.title : '');
}
console.log(`${[...mutants, ...ruleMutants].filter(isWanted).length} mutants, ${survivors} survived`);
process.exit(survivors === 0 ? 0 : 1);

function print(name: string, caughtBy: string | undefined, started: number, problem: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${name.padEnd(75)} ${(caughtBy ?? 'SURVIVED').padEnd(34)} ${seconds.padStart(6)} s  ${problem}`);
  if (caughtBy === undefined) survivors += 1;
}
