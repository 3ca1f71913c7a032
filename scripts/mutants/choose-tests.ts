/**
 * Chooses the test files that may catch a mutant: those that reach its module through imports and execute its line, nearest
 * and cheapest first.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { listDoors } from '../read-doors.ts';
import { isCounted } from '../shape.ts';

/** The most test files of a mutant, and the time that they may take together. The nearest file is always chosen. */
const usualLimits = { files: 12, ms: 8_000 };
/** The limits for a second look at a mutant that was killed before. */
export const wideLimits: typeof usualLimits = { files: 200, ms: 60_000 };
/** Slower files are used only for modules that no other test file reaches. */
const SLOW_MS = 20_000;
/** The time of a file that test/timings.json does not list. */
const UNKNOWN_MS = 100;

/**
 * Modules that no module imports, because a process starts with them, and the tests of these processes. The programs of a
 * bundle (`register.ts` and `index.ts` of the base library) are loaded by the tests of their folder.
 */
export const startedBy: Readonly<Record<string, string>> = {
  'packages/base/src/tools/file-system/search/main.ts': 'packages/base/src/tools/file-system/*.test.ts',
  'packages/cli/bin/gdn.cjs': 'packages/cli/src/{launcher,main,platform}.process.test.ts',
  'packages/cli/src/main.ts': 'packages/cli/src/{main,standard-streams,with-interrupt,wrong-use}.process.test.ts',
  'packages/cli/src/run/detached-main.ts': 'packages/cli/src/commands/run.test.ts',
  'packages/runtime/src/agent/main.ts':
    'packages/runtime/src/{agent/main,start-swarm,shared-process,schema-answers,define-swarm}.process.test.ts',
  'packages/runtime/src/beside-main.ts': 'packages/runtime/src/start-beside.process.test.ts',
  'packages/runtime/src/connector/main.ts': 'packages/runtime/src/connector/main.process.test.ts',
  'packages/runtime/src/keeper/main.ts': 'packages/base/src/extensions/mcp/{keeper,kept-mediation}.process.test.ts',
  'packages/runtime/src/orchestrator/guardian/main.ts':
    'packages/runtime/src/orchestrator/guardian/start-guardian.process.test.ts',
};

/** A test of what `npm run build` makes, which the copies of the repository do not have. */
const OF_BUILD = 'scripts/build-runners.process.test.ts';

export interface ReachingTest {
  readonly path: string;
  readonly ms: number;
  /** 0 for the test of the same name, 1 for tests in the same folder, and one more than the number of imports for others. */
  readonly distance: number;
}

export interface Reach {
  /** Lists the test files that reach a module. */
  testsOf(module: string): readonly ReachingTest[];
  /** Lists the files on which a test file depends beside the tested code: kits, and its snapshots. */
  kitsOf(test: string): readonly string[];
}

export function openReach(folder: string, files: readonly string[]): Reach {
  const { files: timings }: { files: Record<string, number> } = JSON.parse(
    readFileSync(join(folder, 'test/timings.json'), 'utf8'),
  );
  const imports = readImports(folder, files);
  const reaches = new Map<string, ReachingTest[]>();
  const kits = new Map<string, string[]>();
  const known = new Set(files);
  for (const path of files.filter((each) => isTest(each) && each !== OF_BUILD)) {
    const distances = new Map([[path, 0]]);
    // A map that grows during its iteration is iterated to its new end.
    for (const [module, distance] of distances) {
      for (const next of imports.get(module) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
    }
    const snapshots = posix.join(posix.dirname(path), '__snapshots__', `${posix.basename(path)}.snap`);
    const others = [...distances.keys(), snapshots].filter((each) => known.has(each) && !isCounted(each));
    kits.set(
      path,
      others.filter((each) => each !== path),
    );
    const ms = timings[path] ?? UNKNOWN_MS;
    for (const [module, imported] of distances) {
      const isBeside = posix.dirname(path) === posix.dirname(module);
      const distance = isBeside ? Number(nameOf(path) !== nameOf(module)) : imported + 1;
      reaches.getOrInsert(module, []).push({ path, ms, distance });
    }
  }
  return {
    testsOf(module) {
      const all = reaches.get(module) ?? [];
      const fast = all.filter(({ ms }) => ms <= SLOW_MS);
      return fast.length === 0 ? all : fast;
    },
    kitsOf: (test) => kits.get(test) ?? [],
  };
}

export interface ChosenTests {
  /** In the order in which to run them. */
  readonly files: readonly string[];
  /** The time that these files take together. */
  readonly ms: number;
}

/**
 * Chooses from the tests that reach the module of a mutant. `executes` tells whether a test executes the line of the
 * mutant; undefined if only a process that the test starts can do so.
 */
export function chooseTests(
  tests: readonly ReachingTest[],
  executes: (test: string) => boolean | undefined,
  limits = usualLimits,
): ChosenTests {
  const nearest = tests.toSorted((a, b) => a.distance - b.distance || a.ms - b.ms);
  const executing = nearest.filter(({ path }) => executes(path));
  const starting = nearest.filter(({ path }) => executes(path) === undefined && path.includes('.process.'));
  const chosen: ReachingTest[] = [];
  let ms = 0;
  for (const test of [...executing, ...starting]) {
    if (chosen.length === limits.files) break;
    if (chosen.length > 0 && ms + test.ms > limits.ms) continue;
    chosen.push(test);
    ms += test.ms;
  }
  // A near test catches more, and a cheap one costs less.
  const price = (test: ReachingTest) => (UNKNOWN_MS + test.ms) * (1 + test.distance);
  return { files: chosen.toSorted((a, b) => price(a) - price(b)).map(({ path }) => path), ms };
}

const isTest = (path: string) => /\.test\.tsx?$/.test(path);

/** Returns the name that a module shares with its test. */
function nameOf(path: string): string {
  return posix.basename(path).replace(/(?:\.process)?(?:\.test)?\.[cm]?[jt]sx?$/, '');
}

/** Returns the modules that each module imports, without imports of types. */
function readImports(folder: string, files: readonly string[]): Map<string, string[]> {
  const doors = listDoors(folder);
  const imports = new Map<string, string[]>();
  for (const path of files.filter((each) => /(?<!\.d)\.[cm]?[jt]sx?$/.test(each))) {
    const loader = path.endsWith('x') ? 'tsx' : path.endsWith('ts') ? 'ts' : 'js';
    const transpiler = new Bun.Transpiler({ loader, tsconfig: { compilerOptions: { jsx: 'react' } } });
    const text = readFileSync(join(folder, path), 'utf8').replace(/^#!.*/, '');
    const names = transpiler.scanImports(text).map((each) => each.path);
    imports.set(
      path,
      names.map((name) => doors.get(name) ?? posix.join(path, '..', name)),
    );
  }
  for (const [test, module] of listStarted(files)) imports.get(test)?.push(module);
  return imports;
}

/** Lists the tests of modules that no module imports. */
function listStarted(files: readonly string[]): [test: string, module: string][] {
  const tests = files.filter(isTest);
  const programs = files.filter((path) => /^packages\/base\/src\/\w+\/[^/]+\/(?:register|index)\.ts$/.test(path));
  const started = [...Object.entries(startedBy), ...programs.map((path) => [path, posix.join(path, '../*.test.ts')])];
  return started.flatMap(([module = '', pattern = '']) => {
    const glob = new Bun.Glob(pattern);
    return tests.filter((test) => glob.match(test)).map((test): [string, string] => [test, module]);
  });
}
