/** Shows the progress of a backup or a restore that takes long, to a person at a terminal. */
import type { BackupProgress } from '@goondan/runtime/internal';
import type { Terminal } from '../terminal.ts';

/** The time before the first line, and between two lines. */
const EVERY_MS = 1_000;

/** Returns a listener that prints to standard error, or does nothing if nobody watches. */
export function showCopyProgress(
  { showsProgress, printError }: Pick<Terminal, 'printError' | 'showsProgress'>,
  now: () => number = () => performance.now(),
): (progress: BackupProgress) => void {
  if (!showsProgress) return () => undefined;
  let last = now();
  return ({ files, bytes }) => {
    if (now() - last < EVERY_MS) return;
    last = now();
    printError(`Copied ${files} files, ${bytes} bytes.\n`);
  };
}
