/** `gdn run --input`: runs one turn, then stops the swarm if it was started for this turn. */
import type { Delivery, InstanceAddress, InstanceStatus, Swarm } from '@goondan/runtime';
import { randomIds, sleep, systemClock } from '@goondan/runtime/internal';
import type { QuestionDesk } from '../question/question-desk.ts';
import { type DeskPlace, withDesk } from '../question/with-desk.ts';
import { warnOfOtherBundle } from '../cluster/warn-of-other-bundle.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';
import { openReader } from '../swarm/swarm-place.ts';
import type { Terminal } from '../terminal.ts';
import { optionsElsewhere } from '../swarm/options-elsewhere.ts';
import type { HoldQuit, TakeInterrupt } from '../with-interrupt.ts';
import { askOnce, type Question } from './ask-once.ts';
import { OwnLines } from './own-lines.ts';
import { type PreparedRun, startRun } from './prepare-run.ts';

const LOOK_MS = 25;

/**
 * The grace after Ctrl-C. The turn is cancelled then, but its agent has yet to write the trace and to clean up. Turns of
 * other agents are left to the next run.
 */
const CANCELLED_GRACE_MS = 2_000;

/** **Errors** — those of `prepareRun`, `startRun` and `ask`. */
export async function runOnce(
  run: PreparedRun,
  delivery: Delivery,
  terminal: Terminal,
  signal: AbortSignal,
  holdQuit: HoldQuit,
  takeInterrupt: TakeInterrupt,
): Promise<ExitCode> {
  // All attempts use the same id, so that a swarm which accepted the input before it stopped does not accept it twice.
  const named = { id: randomIds.next('event'), ...delivery };
  const question = { delivery: named, json: run.json === true, signal, holdQuit, withdraws: true };
  const desk = { options: optionsElsewhere(run), takeInterrupt };
  return betweenSwarms(async (isAgain) => {
    const running = await attachSwarm(run.place);
    // After a repetition, the only input that waits may be this one: the swarm that stopped had accepted it.
    if (running === undefined) return runAlone(run, { ...question, tellsEarlier: !isAgain }, desk, terminal);
    if (!isAgain) await warnOfOtherBundle(run, terminal);
    // This swarm belongs to another process, which may be about to stop it. Accepted inputs then wait for its next
    // start.
    return withDesk({ ...desk, swarm: running }, terminal, (_desk, onAccepted) =>
      askOnce(running, { ...question, onAccepted, asksAgain: true }, terminal),
    );
  }, signal);
}

async function runAlone(
  run: PreparedRun,
  { tellsEarlier, ...question }: Omit<Question, 'onAccepted'> & { readonly tellsEarlier: boolean },
  desk: Pick<DeskPlace, 'options' | 'takeInterrupt'>,
  terminal: Terminal,
) {
  const { signal } = question;
  const { delivery } = question;
  const lines = new OwnLines(delivery);
  const { control, graceMs } = await startRun(run, terminal, signal, lines.isReported.bind(lines));
  try {
    const { entryAgent, instances } = await control.status();
    const { agent = entryAgent, instanceKey = 'default' } = delivery;
    lines.leaveOut(instances);
    if (tellsEarlier) await tellEarlier(run, { agent, instanceKey }, terminal);
    return await withDesk({ ...desk, swarm: control }, terminal, async (opened, onAccepted) => {
      const asked: Question = {
        ...question,
        onAccepted(acceptance) {
          lines.begin(acceptance);
          onAccepted(acceptance);
        },
      };
      const code = await askOnce(control, asked, terminal);
      const isAtRest = await comeToRest(control, graceMs, signal, opened, terminal);
      if (!isAtRest && !signal.aborted) terminal.printError(`warn: ${leftOver}\n`);
      return signal.aborted ? exitCodes.interrupted : code;
    });
  } finally {
    await control.stop(signal.aborted ? { graceMs: CANCELLED_GRACE_MS } : {});
  }
}

/** Tells the person about inputs that an earlier run has left in the conversation, because they are handled first. */
async function tellEarlier(run: PreparedRun, { agent, instanceKey }: InstanceAddress, terminal: Terminal) {
  const { inbox } = await openReader(run.place);
  const pending = await inbox.pendingEntries({ agentName: agent, instanceKey }).catch(() => []);
  const count = pending.filter(({ cancelled }) => cancelled === undefined).length;
  if (count === 0) return;
  const what = count === 1 ? '1 earlier input' : `${count} earlier inputs`;
  const where = ['gdn instance show', quoteForShell(agent), quoteForShell(instanceKey)].join(' ');
  terminal.printError(`${what} of this conversation ${count === 1 ? 'is' : 'are'} handled first. `);
  terminal.printError(terminal.suggest(`\`${where}\` then prints every answer.\n`));
}

const leftOver = 'Some messages to other agents are not handled yet; the next run handles them.';

/**
 * Waits until the events that the turn sent to other agents are handled. Returns false after a timeout or an
 * interrupt. While a person is being asked a question here, the timeout does not run.
 */
async function comeToRest(
  control: Swarm,
  graceMs: number,
  signal: AbortSignal,
  desk: QuestionDesk,
  terminal: Terminal,
): Promise<boolean> {
  let deadline = systemClock.elapsed() + graceMs;
  while ((await control.status()).instances.some((instance) => isBusy(instance, desk))) {
    if (terminal.canAsk && desk.isAsking) deadline = systemClock.elapsed() + graceMs;
    if (signal.aborted || systemClock.elapsed() > deadline) return false;
    await sleep(systemClock, LOOK_MS);
  }
  return true;
}

/**
 * An instance with a problem does not start, and one that waits for a person of another conversation is left to that
 * person.
 */
function isBusy(instance: InstanceStatus, desk: QuestionDesk): boolean {
  const { queued, problem, questions = 0 } = instance;
  return queued > 0 && problem === undefined && (questions === 0 || desk.isFor(instance));
}
