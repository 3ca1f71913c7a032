/** Ends a chat: stops a swarm that was started for this chat, and leaves any other swarm running. */
import { systemClock } from '@goondan/runtime/internal';
import { exitCodes } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';
import { typedGdn } from '../typed-gdn.ts';
import type { ChatEnd } from './chat.ts';
import type { listenToSignals } from './listen-to-signals.ts';
import type { ChatSwarm } from './open-chat-swarm.ts';

/** If stopping takes longer than this, a message says so. */
const QUIET_MS = 500;
/** How long a cancelled turn may take to end. If its process is killed before that, the turn ends at the next start. */
const CANCEL_MS = 2_000;
/** How long to wait until the swarm has received the cancel, if the swarm was not started for this chat. */
const TELL_MS = 500;

/**
 * Lets running turns finish, unless the person quit. If the person left during a turn, that turn is cancelled and has
 * `CANCEL_MS` to end. One Ctrl-C shortens the wait, a second Ctrl-C ends it. `folder` is the folder of the bundle, as
 * the person typed it.
 */
export async function leaveSwarm(
  { swarm, isOwn, watch }: ChatSwarm,
  end: ChatEnd,
  folder: string,
  signals: ReturnType<typeof listenToSignals>,
  terminal: Terminal,
): Promise<void> {
  watch.end();
  if (end === 'stopped') {
    return terminal.printError(`The swarm was stopped. \`${typedGdn()} run ${folder}\` starts it again.\n`);
  }
  if (!isOwn) return exitSoon(end);
  const told = new AbortController();
  signals.tell((signal) => {
    // When a terminal closes, this process gets SIGHUP twice: from the terminal, and from the launcher. The second
    // signal is ignored.
    if (signal === 'SIGHUP') return;
    if (told.signal.aborted || signal === 'SIGQUIT') process.exit(exitCodes.interrupted);
    told.abort();
    // The first call of `stop` reports the outcome, so errors of this second call are ignored.
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
 * Exits after a while, because the process stays alive until the cancelled turn ends, and in a swarm that hangs the
 * turn never ends.
 */
function exitSoon(end: ChatEnd): void {
  if (end !== 'quit' && end !== 'interrupted') return;
  setTimeout(() => process.exit(exitCodes.interrupted), end === 'quit' ? TELL_MS : CANCEL_MS).unref();
}
