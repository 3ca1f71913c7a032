/** Runs the tests of mutants, in two copies of the repository at a time. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChosenTests, chooseTests, type Reach, type wideLimits } from './choose-tests.ts';
import type { Coverage } from './coverage.ts';
import { applyMutant, type Mutant } from './list-mutants.ts';
import type { Outcome, WorkTree } from './work-tree.ts';

export interface PlacedMutant extends Mutant {
  readonly id: string;
  /** The module, relative to the repository. */
  readonly path: string;
}

/** A mutant with the tests that may catch it. */
export interface TestedMutant extends PlacedMutant {
  readonly tests: ChosenTests;
}

/** After so many mutants, tests must pass without a mutant. Otherwise the results since the last control say nothing. */
const BETWEEN_CONTROLS = 25;
const MOST_FAILED_CONTROLS = 3;
const PROGRESS_MS = 30_000;

/** The time limit of the tests of a mutant: they take `ms` beside three other test files. */
const limitOf = ({ tests: { ms } }: TestedMutant) => 5_000 + 3 * ms;

/** The mutants with their tests, and the tests that fail without a mutant and were left out. */
export interface Choice {
  readonly mutants: readonly TestedMutant[];
  readonly failed: readonly string[];
}

/** Measures coverage that is not known yet, and chooses the tests of each mutant. Runs all of them without a mutant. */
export async function chooseAll(
  trees: readonly WorkTree[],
  mutants: readonly PlacedMutant[],
  reach: Reach,
  coverage: Coverage,
  limits?: typeof wideLimits,
): Promise<Choice> {
  const passed = new Map<string, boolean>();
  const choose = (mutant: PlacedMutant): TestedMutant => {
    const tests = reach.testsOf(mutant.path).filter(({ path }) => passed.get(path) !== false);
    const executes = (test: string) => coverage.executes(test, mutant.path, mutant.line);
    return { ...mutant, tests: chooseTests(tests, executes, limits) };
  };
  const modules = [...new Set(mutants.map(({ path }) => path))];
  await runTests(
    trees,
    coverage,
    passed,
    modules.flatMap((module) =>
      reach.testsOf(module).flatMap(({ path }) => (coverage.isKnown(path, module) ? [] : [path])),
    ),
  );
  // A test that is left out makes room for another one.
  for (;;) {
    const chosen = mutants.map(choose);
    const open = chosen.flatMap(({ tests }) => tests.files.filter((test) => !passed.has(test)));
    if (open.length === 0) {
      return { mutants: chosen, failed: [...passed].flatMap(([test, isPassed]) => (isPassed ? [] : [test])) };
    }
    await runTests(trees, coverage, passed, open);
  }
}

/** Runs test files without a mutant, and notes in `passed` whether they passed. */
async function runTests(
  trees: readonly WorkTree[],
  coverage: Coverage,
  passed: Map<string, boolean>,
  tests: readonly string[],
): Promise<void> {
  const queue = [...new Set(tests)];
  const progress = showProgress(queue.length, 'test files without a mutant');
  const work = async (tree: WorkTree) => {
    for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
      const { outcome, output, lines } = await tree.cover(test);
      passed.set(test, outcome === 's');
      if (outcome === 's') coverage.keep(test, lines);
      else console.error(`${test} fails without a mutant:\n${failuresIn(output)}`);
      progress.count();
    }
  };
  // Twice as many as cores, because many tests wait for processes.
  await Promise.all([...trees, ...trees].map(work)).finally(progress.end);
}

type OnResult = (mutant: TestedMutant, outcome: Outcome) => void;

export async function tryMutants(
  trees: readonly WorkTree[],
  mutants: readonly TestedMutant[],
  repository: string,
  onResult: OnResult,
): Promise<void> {
  const queue = [...mutants];
  const read = (path: string) => readFileSync(join(repository, path), 'utf8');
  const progress = showProgress(queue.length, 'mutants');
  const onEach: OnResult = (mutant, outcome) => {
    progress.count();
    onResult(mutant, outcome);
  };
  await Promise.all(trees.map((each) => workOff(each, queue, read, onEach))).finally(progress.end);
}

async function workOff(
  tree: WorkTree,
  queue: TestedMutant[],
  read: (path: string) => string,
  onResult: OnResult,
): Promise<void> {
  let results: [TestedMutant, Outcome][] = [];
  let failedControls = 0;
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const text = read(mutant.path);
    tree.write(mutant.path, applyMutant(text, mutant));
    const { outcome } = await tree.run(mutant.tests.files, limitOf(mutant));
    tree.write(mutant.path, text);
    results.push([mutant, outcome]);
    if (results.length < BETWEEN_CONTROLS && queue.length > 0) continue;
    if (await passControl(tree, results)) {
      failedControls = 0;
      for (const [each, letter] of results) onResult(each, letter);
    } else {
      failedControls += 1;
      if (failedControls === MOST_FAILED_CONTROLS) throw new Error('Tests that passed before fail without a mutant.');
      queue.push(...results.map(([each]) => each));
    }
    results = [];
  }
}

/** Runs the tests of the last mutant that was caught, without a mutant. */
async function passControl(tree: WorkTree, results: readonly [TestedMutant, Outcome][]): Promise<boolean> {
  const [caught] = results.findLast(([, outcome]) => outcome !== 's') ?? [];
  if (caught === undefined) return true;
  const { outcome, output } = await tree.run(caught.tests.files, 2 * limitOf(caught));
  if (outcome !== 's') console.error(`The tests of ${caught.id} fail without a mutant:\n${failuresIn(output)}`);
  return outcome === 's';
}

function failuresIn(output: string): string {
  return output.replaceAll(/^\(pass\).*\n/gm, '');
}

/** Prints the progress from time to time, and the time at the end. */
function showProgress(total: number, what: string): { readonly count: () => void; readonly end: () => void } {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1_000;
  let done = 0;
  const timer = setInterval(() => {
    const left = done === 0 ? '' : `, ${Math.ceil((seconds() / 60 / done) * (total - done))} min left`;
    console.log(`${done} of ${total} ${what}${left}`);
  }, PROGRESS_MS);
  return {
    count: () => void (done += 1),
    end() {
      clearInterval(timer);
      if (done > 0)
        console.log(`${done} ${what} in ${Math.round(seconds())} s, ${(seconds() / done).toFixed(2)} s each`);
    },
  };
}
