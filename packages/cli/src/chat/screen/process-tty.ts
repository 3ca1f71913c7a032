/**
 * The terminal of this process. However the process ends, except by SIGKILL, the terminal is restored: the `exit`
 * listener undoes every change.
 */
import { writeSync } from 'node:fs';
import type { Tty, TtyListener } from './tty.ts';

/** Enables bracketed paste. */
const TAKE_OVER = '\x1b[?2004h';
/** Disables bracketed paste, shows the cursor, enables line wrapping, and ends synchronized output. */
const GIVE_BACK = '\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[?2026l';

export function processTty({ stdin, stdout }: Pick<NodeJS.Process, 'stdin' | 'stdout'> = process): Tty {
  let giveBack: (() => void) | undefined;
  return {
    // Some terminals do not know their size and report 0.
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    write: (text, written) => void stdout.write(text, () => written()),
    takeOver(listener) {
      giveBack = takeOver(stdin, stdout, listener);
      process.once('exit', giveBack);
    },
    giveBack() {
      if (giveBack !== undefined) process.off('exit', giveBack);
      giveBack?.();
      giveBack = undefined;
    },
  };
}

function takeOver(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream, listener: TtyListener): () => void {
  const { pressed, resized, gone } = listener;
  stdin.setRawMode(true);
  stdin.on('data', pressed);
  stdin.on('end', gone);
  stdin.on('error', gone);
  // Removes the default listeners for good: they would end the process, which may still have a swarm to stop.
  stdout.removeAllListeners('error');
  stdout.on('error', gone);
  stdout.on('resize', resized);
  stdin.resume();
  stdout.write(TAKE_OVER);
  return () => {
    stdin.off('data', pressed);
    stdin.off('end', gone);
    stdout.off('resize', resized);
    stdin.pause();
    try {
      stdin.setRawMode(false);
      // Writes synchronously, because the process may be about to exit.
      writeSync(1, GIVE_BACK);
    } catch {
      // The terminal was closed: there is nothing to restore.
    }
  };
}
