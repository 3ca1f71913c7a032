/**
 * The parts of a system that tests need and npm cannot install. This module decides whether a part may be missing. On a
 * developer's machine, the tests that need a missing part are skipped. In `.ci/run`, which sets
 * `GOONDAN_TEST_PARTS=all`, a missing part fails the run.
 */
export type Part = 'bubblewrap' | 'chromium' | 'network namespaces' | 'pid namespaces' | 'postgresql' | 'tmux';

/**
 * Tells whether the part is here, for `describe.skipIf(!hasPart(…))`. `why` explains why it is missing. Throws if no
 * part may be missing.
 */
export function hasPart(part: Part, isHere: boolean, why = 'it is not installed'): boolean {
  if (isHere) return true;
  const message = `Missing part: ${part}. The tests that need it cannot run: ${why}.`;
  if (process.env['GOONDAN_TEST_PARTS'] === 'all') throw new Error(message);
  console.warn(`${message} They are skipped.`);
  return false;
}

/**
 * A command prefix that runs a command in its own pid namespace, in which no outside process is visible. It needs root.
 */
export const inPidNamespace: readonly string[] = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

export function works(command: readonly string[]): boolean {
  if (Bun.which(command[0] ?? '') === null) return false;
  return Bun.spawnSync([...command], { stdio: ['ignore', 'ignore', 'ignore'] }).exitCode === 0;
}
