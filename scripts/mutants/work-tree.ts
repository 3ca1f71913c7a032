/**
 * Copies of the repository in which tests run with a changed module. The processes that they start use the changed module
 * as well: the programs of child processes are the sources here, not what `npm run build` made.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chooseVictims } from '../../packages/runtime/src/orchestrator/guardian/choose-victims.ts';
import { type ProcessTag, tagEntry } from '../../packages/runtime/src/orchestrator/guardian/process-tag.ts';
import { readProcesses } from '../../packages/runtime/src/orchestrator/guardian/read-processes.ts';
import { engineSettings, testFlags } from '../engine-settings.mjs';

/** Killed, survived, or timed out. Tests that pass without a mutant have the outcome `s`. */
export type Outcome = 'k' | 's' | 't';

export interface TestRun {
  readonly outcome: Outcome;
  /** What Bun printed. */
  readonly output: string;
}

/** Programs that `npm run build` bundles, and their sources. */
const programs: Readonly<Record<string, string>> = {
  'agent-runner': 'agent/main.ts',
  'connector-runner': 'connector/main.ts',
  'keeper-runner': 'keeper/main.ts',
  'guardian-runner': 'orchestrator/guardian/main.ts',
};
/** What `npm run build` makes and the tests need beside these programs. */
const built = ['packages/runtime/dist/known-yaml.json', 'packages/cli/dist/studio'];

/** The time after which a test of a mutant that waits for something has failed. */
const TEST_MS = 10_000;

/** Makes two trees, and removes them after `use`. A signal that ends this process leaves nothing behind either. */
export async function withTrees<Result>(
  repository: string,
  files: readonly string[],
  use: (trees: readonly WorkTree[]) => Promise<Result>,
): Promise<Result> {
  // Short names, because paths of sockets must be short.
  const parent = mkdtempSync(join(tmpdir(), 'gdm-'));
  const trees = [1, 2].map((number) => new WorkTree(join(parent, `${number}`), join(parent, 't')));
  const leave = async () => {
    await Promise.all(trees.map((tree) => tree.end()));
    rmSync(parent, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void leave().then(() => process.exit(130)));
  try {
    for (const tree of trees) tree.fill(repository, files);
    return await use(trees);
  } finally {
    await leave();
  }
}

export class WorkTree {
  readonly #folder: string;
  /** Temporary files of tests without a mutant, in all trees. */
  readonly #shared: string;
  readonly #running = new Set<Bun.Subprocess>();
  #runs = 0;
  #tag: ProcessTag | undefined;
  #isEnded = false;

  constructor(folder: string, shared: string) {
    this.#folder = folder;
    this.#shared = shared;
  }

  /** Copies files of the repository, and links the packages that are installed there. */
  fill(repository: string, files: readonly string[]): void {
    for (const path of [...files, ...built.filter((each) => existsSync(join(repository, each)))]) {
      cpSync(join(repository, path), join(this.#folder, path), { recursive: true, preserveTimestamps: true });
    }
    const [from, to] = [join(repository, 'node_modules'), join(this.#folder, 'node_modules')];
    mkdirSync(join(to, '@goondan'), { recursive: true });
    // The commands are links to the packages beside them, among them our own.
    cpSync(join(from, '.bin'), join(to, '.bin'), { recursive: true, verbatimSymlinks: true });
    for (const name of readdirSync(from)) {
      if (name !== '.bin' && name !== '@goondan') symlinkSync(join(from, name), join(to, name));
    }
    for (const name of readdirSync(join(this.#folder, 'packages'))) {
      symlinkSync(`../../packages/${name}`, join(to, '@goondan', name));
    }
    for (const [name, source] of Object.entries(programs)) {
      this.write(`packages/runtime/dist/${name}.js`, `await import('../src/${source}');\n`);
    }
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.#folder, path)), { recursive: true });
    writeFileSync(join(this.#folder, path), text);
  }

  /**
   * Runs a test file without a mutant, and returns the executed lines (lcov). A database server that it starts goes on for
   * all later runs.
   */
  async cover(file: string): Promise<TestRun & { readonly lines: string }> {
    mkdirSync(this.#shared, { recursive: true });
    const folder = mkdtempSync(join(this.#shared, 'coverage-'));
    const flags = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${folder}`, '--timeout=30000'];
    const tested = await this.#test([file], flags, { TMPDIR: this.#shared });
    const result = join(folder, 'lcov.info');
    return { ...tested, lines: existsSync(result) ? readFileSync(result, 'utf8') : '' };
  }

  /** Runs test files, in this order, until one fails. Nothing that they start or write is left afterwards. */
  async run(files: readonly string[], timeout: number): Promise<TestRun> {
    this.#runs += 1;
    this.#tag = `GOONDAN_MUTANT=${process.pid}:${this.#folder}:${this.#runs}`;
    const env = { ...tagEntry(this.#tag), TMPDIR: this.#temporary };
    const tested = await this.#test(files, ['--bail', `--timeout=${TEST_MS}`], env, { timeout, killSignal: 'SIGKILL' });
    await this.#clean();
    return tested;
  }

  get #temporary(): string {
    return `${this.#folder}t`;
  }

  async #test(
    files: readonly string[],
    flags: readonly string[],
    env: Readonly<Record<string, string>> & { readonly TMPDIR: string },
    limits: { readonly timeout?: number; readonly killSignal?: 'SIGKILL' } = {},
  ): Promise<TestRun> {
    // Nobody waits for more results then.
    if (this.#isEnded) return new Promise(() => undefined);
    mkdirSync(env.TMPDIR, { recursive: true });
    const log = join(env.TMPDIR, `${crypto.randomUUID()}.txt`);
    const paths = files.map((path) => `./${path}`);
    const child = Bun.spawn([process.execPath, 'test', ...testFlags, ...flags, ...paths], {
      cwd: this.#folder,
      env: { ...process.env, ...engineSettings, ...env, GOONDAN_TEST_RUN: `${process.pid}-mutants` },
      stdio: ['ignore', 'ignore', Bun.file(log)],
      detached: true,
      ...limits,
    });
    this.#running.add(child);
    await child.exited;
    this.#running.delete(child);
    if (this.#isEnded) return new Promise(() => undefined);
    const output = readFileSync(log, 'utf8');
    return { outcome: judge(child, output), output };
  }

  /** Ends all tests that are running. No test runs after that. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#clean();
    // Bun ends the processes that it has started.
    for (const child of this.#running) child.kill('SIGTERM');
    await Promise.all([...this.#running].map(({ exited }) => exited));
  }

  /** Ends the processes of the last run with a mutant, and removes its temporary files. */
  async #clean(): Promise<void> {
    if (this.#tag !== undefined) {
      const { groups, processes } = chooseVictims(await readProcesses(this.#tag), process.pid);
      for (const id of [...groups.map((group) => -group), ...processes.map(({ pid }) => pid)]) kill(id);
    }
    rmSync(this.#temporary, { recursive: true, force: true });
  }
}

function judge({ exitCode, signalCode }: Bun.Subprocess, output: string): Outcome {
  if (signalCode === 'SIGKILL' || /^ *\^ this test timed out/m.test(output)) return 't';
  // A mutant that ends the test process has not survived.
  return exitCode === 0 && /^Ran \d+ tests? across \d+ files?\./m.test(output) ? 's' : 'k';
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // The process has exited meanwhile.
  }
}
