/** Ends a chat: stops a swarm that was started for this chat, and leaves any other swarm running. */
import { systemClock } from '@goondan/runtime/internal';
import { exitCodes } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import type { ChatEnd } from './chat.ts';
import type { listenToSignals } from './listen-to-signals.ts';
import type { ChatSwarm } from './open-chat-swarm.ts';

/** If stopping takes longer than this, a message says so. */
const QUIET_MS = 500;
/** How long a cancelled turn may take to end. If the process is killed earlier, the turn ends at the next start. */
const CANCEL_MS = 2_000;
/** How long to wait until a swarm that keeps running has received the cancel. */
const TELL_MS = 500;

/**
 * Lets running turns finish, unless the person quit. If the person left during a turn, that turn is cancelled and has
 * `CANCEL_MS` to end. One Ctrl-C shortens the wait, a second Ctrl-C ends it. `folder` is that of the bundle, as it was
 * typed.
 */
export async function leaveSwarm(
  { swarm, isOwn, watch }: ChatSwarm,
  end: ChatEnd,
  folder: string,
  signals: ReturnType<typeof listenToSignals>,
  terminal: Terminal,
): Promise<void> {
  watch.end();
  if (end === 'stopped') return terminal.printError(`The swarm was stopped. \`gdn run ${folder}\` starts it again.\n`);
  if (!isOwn) return exitSoon(end);
  const told = new AbortController();
  signals.tell((signal) => {
    // A closing terminal signals both this process and the launcher, which passes the signal on, so the second one is
    // ignored.
    if (signal === 'SIGHUP') return;
    if (told.signal.aborted || signal === 'SIGQUIT') process.exit(exitCodes.interrupted);
    told.abort();
    // The first call of `stop` reports the outcome, so errors of this one are ignored.
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

/**
 * Exits after a while. Otherwise the wait for a cancelled turn would keep the process alive, and a swarm that hangs
 * never answers.
 */
function exitSoon(end: ChatEnd): void {
  if (end !== 'quit' && end !== 'interrupted') return;
  setTimeout(() => process.exit(exitCodes.interrupted), end === 'quit' ? TELL_MS : CANCEL_MS).unref();
}
