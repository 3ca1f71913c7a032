/**
 * `npm run mutants [-- FOLDER … | ID …]`: makes small mistakes in the code, one at a time, and runs the tests that reach
 * them. Prints those that no test notices.
 *
 * It tries a sample: about 2,000 mutants of all code, or 300 of folders, always the same ones. `--share 0.5` tries half
 * of all mutants, `--share 1` all. tmp/mutants keeps each result until the module, its tests or their kits change, so an
 * interrupted run goes on; `--fresh` forgets them. `--write` puts the results of the 2,000 into test/mutants.txt.
 *
 * The exit code is 1 if, compared with test/mutants.txt of the last commit,
 * 1. a mutant that was killed is not killed now, or
 * 2. less than 85 % of the new reached mutants are killed, or one of them survives without a reason. Add the reason in
 *    test/mutants.txt: `ID s REASON`. Without `--share`, only those of the 2,000 count as new.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openReach, type Reach, wideLimits } from './mutants/choose-tests.ts';
import { Coverage, hashText } from './mutants/coverage.ts';
import { listMutants } from './mutants/list-mutants.ts';
import {
  compareResults,
  type Comparison,
  type Letter,
  parseResults,
  renderResults,
  renderTable,
  type Result,
  type Results,
} from './mutants/results.ts';
import { chooseAll, type PlacedMutant, type TestedMutant, tryMutants } from './mutants/try-mutants.ts';
import { withTrees, type WorkTree } from './mutants/work-tree.ts';
import { readTree, withProject } from './read-doors.ts';
import { isCounted, listFiles, repository } from './shape.ts';

/** The part of all mutants that is in the sample. */
const SAMPLE = 0.027;
/** How many mutants of folders are tried. */
const OF_FOLDERS = 300;
const resultFile = 'test/mutants.txt';
const keptFolder = join(repository, 'tmp/mutants');
const keptFile = join(keptFolder, 'results.txt');

const usage = `Usage: npm run mutants [-- FOLDER … | ID …] [--share PART] [--fresh] [--write]

Example: npm run mutants -- packages/base/src/extensions/approval --share 1
`;

async function main(): Promise<number> {
  const { values, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: {
      share: { type: 'string' },
      fresh: { type: 'boolean' },
      write: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return end(usage, 0);
  const files = listFiles();
  const unknown = wanted.find((each) => !/^[0-9a-f]{10}$/.test(each) && !files.some((path) => isIn(path, each)));
  if (unknown !== undefined) return end(`There is no folder, module or mutant "${unknown}".\n\n${usage}`, 2);
  if (values.fresh) rmSync(keptFolder, { recursive: true, force: true });
  const all = await listAll(files);
  const chosen = choose(all, wanted, values.share);
  console.log(`${chosen.length} of ${all.length} mutants`);

  const committed = Bun.spawnSync(['git', 'show', `HEAD:${resultFile}`], { cwd: repository, stderr: 'ignore' });
  const before = parseResults(committed.stdout.toString());
  const { letters, failed } = await withTrees(repository, files, (trees) => tryTwice(trees, files, chosen, before));
  const written = parseResults(existsSync(join(repository, resultFile)) ? read(resultFile) : '');
  const results = new Map([...letters].map(([id, letter]) => [id, withReason(letter, written.get(id))]));
  if (values.write) writeFileSync(join(repository, resultFile), renderResults(merge(written, results, all)));
  const judged = [...results].filter(([id]) => values.share !== undefined || isSampled(id));
  const isWorse = report(chosen, results, before.size === 0 ? undefined : compareResults(before, new Map(judged)));
  if (failed.length > 0) console.log(`\nThese tests fail without a mutant, and were left out:\n${failed.join('\n')}`);
  return isWorse || failed.length > 0 ? 1 : 0;
}

/** Lists all mutants of the production code. */
async function listAll(files: readonly string[]): Promise<PlacedMutant[]> {
  const modules = files.filter((path) => isCounted(path) && /(?<!\.d)\.(?:tsx?|cjs)$/.test(path));
  const counts = new Map<string, number>();
  return withProject(repository, modules, async (project) => {
    const found: PlacedMutant[] = [];
    for (const path of modules) {
      for (const mutant of listMutants(await readTree(project, join(repository, path)))) {
        // Functions with the same name may have the same mutants.
        const count = (counts.get(mutant.key) ?? 0) + 1;
        counts.set(mutant.key, count);
        found.push({ ...mutant, id: hashText(`${mutant.key} ${count}`), path });
      }
    }
    return found;
  });
}

/** Chooses mutants of folders, modules and ids; of all code when `wanted` is empty. */
function choose(all: readonly PlacedMutant[], wanted: readonly string[], share?: string): PlacedMutant[] {
  const inside = all.filter(({ path }) => wanted.length === 0 || wanted.some((folder) => isIn(path, folder)));
  const usual = wanted.length === 0 ? SAMPLE : Math.max(SAMPLE, OF_FOLDERS / inside.length);
  const sample = new Set(inside.filter(({ id }) => isSampled(id, Number(share ?? usual))));
  return all.filter((mutant) => sample.has(mutant) || wanted.includes(mutant.id));
}

function isIn(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder.replace(/\/$/, '')}/`);
}

/** An id is a random number that stays the same. */
function isSampled(id: string, share = SAMPLE): boolean {
  return Number.parseInt(id, 16) < share * 16 ** id.length;
}

interface Tried {
  readonly letters: ReadonlyMap<string, Letter>;
  /** Tests that fail without a mutant. */
  readonly failed: readonly string[];
}

/**
 * Tries mutants, and those that were killed before and survive once more, with all tests that execute their line: new or
 * moved tests may have taken the place of the test that killed it.
 */
async function tryTwice(
  trees: readonly WorkTree[],
  files: readonly string[],
  chosen: readonly PlacedMutant[],
  before: Results,
): Promise<Tried> {
  const hashes = new Map<string, string>();
  const reach = openReach(repository, files);
  const hashOf = (path: string) =>
    hashes.getOrInsertComputed(path, () => hashText([path, ...reach.kitsOf(path)].map(read).join('\0')));
  const tools = { trees, hashOf, coverage: new Coverage(join(keptFolder, 'coverage'), hashOf), reach };
  const first = await tryChosen(tools, chosen);
  const { lost } = compareResults(before, new Map([...first.letters].map(([id, letter]) => [id, { letter }])));
  if (lost.length === 0) return first;
  const second = await tryChosen(
    tools,
    chosen.filter(({ id }) => lost.includes(id)),
    wideLimits,
  );
  return {
    letters: new Map([...first.letters, ...second.letters]),
    failed: [...new Set([...first.failed, ...second.failed])],
  };
}

interface Tools {
  readonly trees: readonly WorkTree[];
  readonly hashOf: (path: string) => string;
  readonly coverage: Coverage;
  readonly reach: Reach;
}

/** Returns the result of each mutant, from this run or an earlier one. */
async function tryChosen(tools: Tools, chosen: readonly PlacedMutant[], limits?: typeof wideLimits): Promise<Tried> {
  const { trees, hashOf, coverage, reach } = tools;
  const { mutants, failed } = await chooseAll(trees, chosen, reach, coverage, limits);
  // The text changes with the mutant, its module and its tests.
  const stateOf = ({ id, path, tests }: TestedMutant) => `${id} ${hashText([path, ...tests.files].map(hashOf).join())}`;
  const lines = existsSync(keptFile) ? readFileSync(keptFile, 'utf8').split('\n') : [];
  // Safe: the lines are those that are written below.
  const kept = new Map(lines.map((line) => [line.slice(2), line.slice(0, 1) as Letter]));
  const letters = new Map<string, Letter>();
  const open: TestedMutant[] = [];
  for (const mutant of mutants) {
    const letter = mutant.tests.files.length === 0 ? 'n' : kept.get(stateOf(mutant));
    if (letter === undefined) open.push(mutant);
    else letters.set(mutant.id, letter);
  }
  // The order of ids has no pattern, so the time that is left can be told from the beginning.
  open.sort((a, b) => (a.id < b.id ? -1 : 1));
  await tryMutants(trees, open, repository, (mutant, outcome) => {
    letters.set(mutant.id, outcome);
    appendFileSync(keptFile, `${outcome} ${stateOf(mutant)}\n`);
  });
  return { letters, failed };
}

/** Prints a text, to standard error if it is about a failure. Returns the exit code. */
function end(text: string, exitCode: number): number {
  (exitCode === 0 ? process.stdout : process.stderr).write(text);
  return exitCode;
}

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

function withReason(letter: Letter, { reason }: Partial<Result> = {}): Result {
  return letter === 's' && reason !== undefined ? { letter, reason } : { letter };
}

/** Returns the results to write: those of the sample, and survivors with a reason. */
function merge(written: Results, results: Results, all: readonly PlacedMutant[]): Results {
  const existing = new Set(all.map(({ id }) => id));
  const merged = [...written, ...results].filter(([id]) => existing.has(id));
  return new Map(merged.filter(([id, { reason }]) => isSampled(id) || reason !== undefined));
}

/** Prints the results, and what is worse than before. Returns whether anything is. */
function report(chosen: readonly PlacedMutant[], results: Results, comparison?: Comparison): boolean {
  const letterOf = ({ id }: PlacedMutant) => results.get(id)?.letter ?? 'n';
  const byId = new Map(chosen.map((mutant) => [mutant.id, mutant]));
  const print = (title: string, ids: readonly string[]) => {
    if (ids.length > 0) console.log(`\n${title}`);
    for (const id of ids) console.log(describe(byId.get(id), results.get(id)?.reason));
  };
  print(
    'Survivors:',
    chosen.filter((mutant) => letterOf(mutant) === 's').map(({ id }) => id),
  );
  console.log(`\n${renderTable(chosen.map((mutant) => [mutant.path.split('/')[1] ?? '', letterOf(mutant)]))}`);

  // Nothing is new if nothing was committed yet.
  if (comparison === undefined) return false;
  const { lost, unexplained, tooFew } = comparison;
  print('Killed before, and not now. Keep the test that killed it:', lost);
  print(`New, and no test notices it. Write a test, or a reason in ${resultFile}:`, unexplained);
  if (tooFew !== undefined)
    console.log(`\nOf the new mutants, ${(100 * tooFew).toFixed(0)} % are killed; 85 % are needed.`);
  return lost.length + unexplained.length > 0 || tooFew !== undefined;
}

function describe(mutant: PlacedMutant | undefined, reason = ''): string {
  if (mutant === undefined) return '';
  const { id, path, line, from, to, replacement } = mutant;
  const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 80);
  return `${id} ${path}:${line}  ${short(read(path).slice(from, to))}  →  ${short(replacement)}  ${reason}`.trimEnd();
}

process.exitCode = await main();
