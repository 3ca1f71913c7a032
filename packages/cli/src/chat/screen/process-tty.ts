/**
 * The terminal of this process. However the process ends, short of SIGKILL, the terminal is restored: on `exit`
 * everything that was taken over is given back.
 */
import { writeSync } from 'node:fs';
import type { Tty, TtyListener } from './tty.ts';

/** Turns on marks around pastes. */
const TAKE_OVER = '\x1b[?2004h';
/** Turns off the marks, shows the cursor, wraps lines again, and ends synchronized output. */
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
  // Removed for good: the default listener would end the process, which may still have a swarm to stop.
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
      // Written synchronously: the process may be about to exit.
      writeSync(1, GIVE_BACK);
    } catch {
      // The terminal is gone: there is nothing to give back.
    }
  };
}
