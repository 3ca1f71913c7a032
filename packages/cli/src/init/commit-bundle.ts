/**
 * Creates a repository with a first commit for a new bundle. A problem with git is only reported, because the bundle
 * exists anyway. Does not create a repository inside another one, and does not use an existing `.git`, whose hooks and
 * programs git would run. Every git command has a deadline.
 */
import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { quoteForShell } from '../quote-for-shell.ts';

const timeoutMs = 30_000;

/** `none`: git is not installed, or the folder is already in a repository. */
export type Committed =
  | { readonly git: 'committed' | 'none' }
  | { readonly git: 'failed'; readonly reason: string; readonly suggestion: string };

export async function commitBundle(folder: string, files: readonly string[]): Promise<Committed> {
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
    return { git: 'failed', ...explainFailure(folder, error) };
  }
}

function gitIn(folder: string) {
  // Unsets these variables, because inside a git hook they point to another repository.
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, ...env } = process.env;
  // English, because `explainFailure` reads the messages.
  const english = { ...env, LC_ALL: 'C' };
  return (...args: string[]) => promisify(execFile)('git', args, { cwd: folder, env: english, timeout: timeoutMs });
}

async function isInsideRepository(run: ReturnType<typeof gitIn>): Promise<boolean> {
  try {
    await run('rev-parse', '--git-dir');
    return true;
  } catch {
    return false;
  }
}

/** Returns the line in which git names the problem, and the commands that make the commit. */
function explainFailure(folder: string, error: unknown): { readonly reason: string; readonly suggestion: string } {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  const lines = said.split('\n').filter((line) => line.trim() !== '');
  const reason = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? 'git did not say why';
  const again = `\`git -C ${quoteForShell(folder)} commit --all --message "A new swarm"\``;
  // For a missing name or e-mail, git says "Author identity unknown" or "empty ident name".
  if (!/\bident(ity)?\b/i.test(said)) return { reason, suggestion: `Correct that, then run ${again}.` };
  const name = '`git config --global user.name "Your Name"`';
  const email = '`git config --global user.email you@example.com`';
  return { reason, suggestion: `Tell git who you are with ${name} and ${email}, then run ${again}.` };
}
