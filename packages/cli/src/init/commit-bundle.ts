/**
 * Creates a repository with a first commit for a new bundle. A problem with git is only reported, because the bundle
 * exists anyway. Does not create a repository inside another one, and does not use an existing `.git`, whose hooks and
 * programs git would run. Every git command has a deadline.
 */
import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const timeoutMs = 30_000;

/** `none`: git is not installed, or the folder is already in a repository. */
export async function commitBundle(
  folder: string,
  files: readonly string[],
): Promise<{ readonly git: 'committed' | 'none' } | { readonly git: 'failed'; readonly reason: string }> {
  const run = gitIn(folder);
  if (lstatSync(join(folder, '.git'), { throwIfNoEntry: false }) !== undefined) return { git: 'none' };
  try {
    await run('--version');
  } catch {
    return { git: 'none' };
  }
  if (await isInsideRepository(run)) return { git: 'none' };
  try {
    await run('init', '--quiet');
    await run('add', '--', ...files);
    // Disables signing, because it may ask for a passphrase that nobody could type.
    await run('commit', '--quiet', '--no-verify', '--no-gpg-sign', '--message', 'A new swarm, by gdn init');
    return { git: 'committed' };
  } catch (error) {
    return { git: 'failed', reason: readReason(error) };
  }
}

function gitIn(folder: string) {
  // Unsets these variables, because inside a git hook they point to another repository.
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, ...env } = process.env;
  return (...args: string[]) => promisify(execFile)('git', args, { cwd: folder, env, timeout: timeoutMs });
}

async function isInsideRepository(run: ReturnType<typeof gitIn>): Promise<boolean> {
  try {
    await run('rev-parse', '--git-dir');
    return true;
  } catch {
    return false;
  }
}

/** Returns the line in which git names the problem. */
function readReason(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? 'git did not say why';
}
