/** The end of a chat for the swarm: one that was started for it is stopped, any other is left as it is. */
import { systemClock } from '@goondan/runtime/internal';
import { exitCodes } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import type { ChatEnd } from './chat.ts';
import type { ListenedSignals } from './listen-to-signals.ts';
import type { ChatSwarm } from './open-chat-swarm.ts';

/** What takes longer is told. */
const QUIET_MS = 500;
/** For a turn that is being cancelled. Killed before it has ended, it ends at the next start. */
const CANCEL_MS = 2_000;
/** For a swarm that keeps running to be told that its turn is cancelled. */
const TELL_MS = 500;

export interface Leaving {
  /** Of the bundle, as it was typed. */
  readonly folder: string;
  readonly terminal: Terminal;
  readonly signals: ListenedSignals;
}

/**
 * Running turns may finish, unless the person quit. A person who left in the middle of a turn cancelled it: it has
 * `CANCEL_MS` to end. Ctrl-C hurries, and once more does not wait.
 */
export async function leaveSwarm({ swarm, isOwn, watch }: ChatSwarm, end: ChatEnd, leaving: Leaving): Promise<void> {
  const { folder, terminal, signals } = leaving;
  watch.end();
  if (end === 'stopped') return terminal.printError(`The swarm was stopped. \`gdn run ${folder}\` starts it again.\n`);
  if (!isOwn) return exitSoon(end);
  const told = new AbortController();
  signals.tell((signal) => {
    // A terminal that goes away says so twice: to this process, and to the launcher, which passes it on.
    if (signal === 'SIGHUP') return;
    if (told.signal.aborted || signal === 'SIGQUIT') process.exit(exitCodes.interrupted);
    told.abort();
    // How it ends is told by the first.
    swarm.stop().catch(() => undefined);
  });
  const callOff = systemClock.after(QUIET_MS, () => {
    if (end !== 'gone') terminal.printError('Running turns may finish. Ctrl-C hurries.\n');
  });
  try {
    await swarm.stop(graceAfter(end));
  } finally {
    callOff();
  }
}

function graceAfter(end: ChatEnd): { readonly graceMs?: number } {
  if (end === 'quit') return { graceMs: 0 };
  return end === 'interrupted' ? { graceMs: CANCEL_MS } : {};
}

/** The answer to a cancelled turn keeps the process alive, and a swarm that hangs gives none. */
function exitSoon(end: ChatEnd): void {
  if (end !== 'quit' && end !== 'interrupted') return;
  setTimeout(() => process.exit(exitCodes.interrupted), end === 'quit' ? TELL_MS : CANCEL_MS).unref();
}
