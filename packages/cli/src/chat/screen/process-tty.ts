/**
 * The terminal this process was started in. However the process ends, short of being killed outright, the terminal is
 * left as it was: on `exit` what is still taken over is given back.
 */
import { writeSync } from 'node:fs';
import type { Tty, TtyListener } from './tty.ts';

/** Pastes come marked as such. */
const TAKE_OVER = '\x1b[?2004h';
/** No marks, a cursor, lines that wrap, and nothing held back. */
const GIVE_BACK = '\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[?2026l';

export function processTty({ stdin, stdout }: Pick<NodeJS.Process, 'stdin' | 'stdout'> = process): Tty {
  let giveBack: (() => void) | undefined;
  return {
    // Some terminals do not know their size, and say 0.
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
  // For good, in place of whoever would end the process: it has a swarm to stop, which may take a while.
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
      // At once: the process may be on its way out.
      writeSync(1, GIVE_BACK);
    } catch {
      // The terminal is gone, and with it what there was to give back.
    }
  };
}
