/** Makes the last version before the issue: its files from git, with its packages, built. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startGroup } from './process-group.ts';

/** The last commit that writes format 1. */
export const OLD_COMMIT = '8e7d241f';
const repository = join(import.meta.dir, '../..');

/** A wrong setup, which the person who started the command has to correct. */
export class SetupError extends Error {}

/**
 * Uses the version in `folder` if it is complete, and otherwise makes it there from a commit of `clone`. **Errors** —
 * `SetupError`.
 */
export async function makeOldVersion(
  folder: string,
  report: (line: string) => void,
  { clone, commit } = { clone: repository, commit: OLD_COMMIT },
): Promise<string> {
  if (isComplete(folder)) return folder;
  if (existsSync(folder))
    throw new SetupError(`${folder} exists and is not a built version. Name another folder, or remove it.`);
  await requireCommit(clone, commit);
  try {
    report(`Making version ${commit} in ${folder}`);
    await mkdir(folder, { recursive: true });
    const files = `git -C "$0" archive ${commit} | tar -x -C "$1"`;
    await run(['bash', '-o', 'pipefail', '-c', files, clone, folder], clone, 'Its files cannot be read.');
    report('Installing its packages (npm ci)');
    const offline = 'npm ci needs the network, or a cache that has the packages.';
    await run(['npm', 'ci', '--no-audit', '--no-fund'], folder, offline);
    if (!isComplete(folder)) throw new SetupError(`npm ci has not built ${folder}.`);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Builds this version, because a swarm runs the built files even if the sources are newer. **Errors** — `SetupError`. */
export async function buildThisVersion(): Promise<string> {
  await run(['node', 'scripts/build.mjs'], repository, 'This version cannot be built. Run `npm ci` first.');
  return repository;
}

function isComplete(folder: string): boolean {
  return ['packages/cli/dist/gdn', 'packages/runtime/dist/agent-runner.js', 'node_modules/commander'].every((path) =>
    existsSync(join(folder, path)),
  );
}

async function requireCommit(clone: string, commit: string): Promise<void> {
  const asked = Bun.spawn(['git', '-C', clone, 'cat-file', '-e', `${commit}^{commit}`], { stderr: 'ignore' });
  if ((await asked.exited) === 0) return;
  const suggestion = 'Run `git fetch --unshallow`, or name a built clone of it with --old DIR.';
  throw new SetupError(`This clone does not have the commit ${commit}. ${suggestion}`);
}

async function run(command: readonly string[], cwd: string, problem: string): Promise<void> {
  const group = startGroup(command, cwd);
  if ((await group.exited) !== 0) throw new SetupError(`${problem}\n${(await group.errors()).trim().slice(-2000)}`);
}
