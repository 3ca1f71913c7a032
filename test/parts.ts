/**
 * The parts of a system that tests need and npm cannot install. This module decides whether one may be missing: on a
 * developer's machine the tests that need it are skipped; in `.ci/run`, which sets `GOONDAN_TEST_PARTS=all`, a missing
 * part fails the run.
 */
export type Part = 'bubblewrap' | 'chromium' | 'network namespaces' | 'pid namespaces' | 'tmux';

/**
 * Use it in `describe.skipIf(!hasPart(…))`. `why` explains why the part is missing. Throws where no part may be
 * missing.
 */
export function hasPart(part: Part, isHere: boolean, why = 'it is not installed'): boolean {
  if (isHere) return true;
  const message = `Missing part: ${part}. The tests that need it cannot run: ${why}.`;
  if (process.env['GOONDAN_TEST_PARTS'] === 'all') throw new Error(message);
  console.warn(`${message} They are skipped.`);
  return false;
}

/** Runs a command in its own pid namespace, from which no outside process is visible. Needs root. */
export const inPidNamespace: readonly string[] = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

export function works(command: readonly string[]): boolean {
  if (Bun.which(command[0] ?? '') === null) return false;
  return Bun.spawnSync([...command], { stdio: ['ignore', 'ignore', 'ignore'] }).exitCode === 0;
}
