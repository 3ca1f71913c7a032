/**
 * `gdn run --input`: runs one turn, in the swarm that runs already, or in one that is started for this turn and ends with
 * it. A run owns its input, its conversation, and what its turn causes. Everything else belongs to others.
 *
 * 1. A service never waits for a run that has finished its turn, or cannot finish it within the grace: it replaces the
 *    run's swarm, and the run asks the service again with the same id. So no input is answered twice, and none is lost.
 * 2. Questions and log lines of other conversations are not printed here, even if their turns run in this process.
 * 3. An input whose agent does not start is withdrawn.
 */
import type { Delivery, InstanceAddress, InstanceStatus, Swarm } from '@goondan/runtime';
import { randomIds, sleep, systemClock } from '@goondan/runtime/internal';
import { type DeskPlace, withDesk } from '../question/with-desk.ts';
import type { QuestionDesk } from '../question/question-desk.ts';
import { warnOfOtherBundle } from '../cluster/warn-of-other-bundle.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { betweenSwarms, isGone } from '../swarm/between-swarms.ts';
import { openReader } from '../swarm/swarm-place.ts';
import type { Terminal } from '../terminal.ts';
import { optionsElsewhere } from '../swarm/options-elsewhere.ts';
import { type HoldQuit, type TakeInterrupt, whenAborted } from '../with-interrupt.ts';
import { askOnce, type Question } from './ask-once.ts';
import { OwnLines } from './own-lines.ts';
import { type PreparedRun, startRun } from './prepare-run.ts';

const LOOK_MS = 25;

/**
 * The grace after Ctrl-C. The turn is cancelled then, but its agent has yet to write the trace and to clean up. Turns of
 * other agents are left to the next run.
 */
const CANCELLED_GRACE_MS = 2_000;

/** A question that all swarms are asked with the same id, whichever accepts it first. */
type OneQuestion = Omit<Question, 'onAccepted' | 'asksAgain' | 'isAsking'> & {
  readonly delivery: Delivery & { readonly id: string };
};

/** **Errors** — those of `prepareRun`, `startRun` and `ask`. */
export async function runOnce(
  run: PreparedRun,
  delivery: Delivery,
  terminal: Terminal,
  signal: AbortSignal,
  holdQuit: HoldQuit,
  takeInterrupt: TakeInterrupt,
): Promise<ExitCode> {
  const named = { id: randomIds.next('event'), ...delivery };
  const question = { delivery: named, json: run.json === true, signal, holdQuit, withdraws: true };
  const desk = { options: optionsElsewhere(run), takeInterrupt };
  return betweenSwarms(async (isAgain, onReached) => {
    const running = await attachSwarm(run.place);
    try {
      // After a repetition, the only input that waits may be this one: the swarm that stopped had accepted it.
      if (running === undefined) return await runAlone(run, question, { ...desk, tellsEarlier: !isAgain }, terminal);
      if (!isAgain) await warnOfOtherBundle(run, terminal);
      // This swarm may be about to stop. Accepted inputs then wait for its next start.
      return await withDesk({ ...desk, swarm: running }, terminal, (asking, onAccepted) =>
        askOnce(running, { ...question, onAccepted, asksAgain: isGone, isAsking: () => asking.isAsking }, terminal),
      );
    } catch (error) {
      if (!isGone(error)) throw error;
      onReached();
      // On files, the next swarm cannot start before this one has ended, which takes at most its grace. If only the
      // connection was lost, the swarm may run on.
      const isStopping = run.cluster === undefined && error.code === 'E_SWARM_STOPPED';
      const ended = isStopping ? running?.stopped.catch(() => undefined) : undefined;
      await Promise.race([ended, whenAborted(signal)]);
      throw error;
    }
  }, signal);
}

async function runAlone(
  run: PreparedRun,
  question: OneQuestion,
  { tellsEarlier, ...place }: Omit<DeskPlace, 'swarm'> & { readonly tellsEarlier: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const { delivery, signal } = question;
  const lines = new OwnLines(delivery);
  const isReported = lines.isReported.bind(lines);
  const { control, graceMs } = await startRun(run, terminal, { signal, isReported, oneShot: true });
  let isOver = false;
  void control.stopped.then(() => (isOver = true));
  try {
    const { entryAgent, instances } = await control.status();
    const at = { agent: delivery.agent ?? entryAgent, instanceKey: delivery.instanceKey ?? 'default' };
    lines.leaveOut(instances);
    if (tellsEarlier) await tellEarlier(run, at, terminal);
    return await withDesk({ ...place, swarm: control }, terminal, async (desk, onAccepted) => {
      const asked: Question = {
        ...question,
        onAccepted(acceptance) {
          lines.begin(acceptance);
          onAccepted(acceptance);
        },
        asksAgain: (error) => isGone(error) && error.retryable,
        isAsking: () => desk.isAsking,
      };
      const code = await askOnce(control, asked, terminal);
      const hasEnded = () => isOver || signal.aborted;
      const isAtRest = await comeToRest(control, graceMs, hasEnded, desk, terminal);
      if (!isAtRest && !hasEnded()) terminal.printError(`warn: ${leftOver}\n`);
      return signal.aborted ? exitCodes.interrupted : code;
    });
  } finally {
    // Others that asked this swarm, and a service that waits for its end, go on with what is left.
    await control.stop(signal.aborted ? { graceMs: CANCELLED_GRACE_MS } : { handover: true });
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
 * Waits until the events that the turn sent to other agents are handled. Returns false after a timeout, or when
 * `hasEnded` returns true. While a person is being asked a question here, the timeout does not run.
 */
async function comeToRest(
  control: Swarm,
  graceMs: number,
  hasEnded: () => boolean,
  desk: QuestionDesk,
  terminal: Terminal,
): Promise<boolean> {
  let deadline = systemClock.elapsed() + graceMs;
  while ((await control.status()).instances.some((instance) => isBusy(instance, desk))) {
    if (terminal.canAsk && desk.isAsking) deadline = systemClock.elapsed() + graceMs;
    if (hasEnded() || systemClock.elapsed() > deadline) return false;
    await sleep(systemClock, LOOK_MS);
  }
  return true;
}

/**
 * An instance that waits for a person of another conversation is left to that person, and one that does not start, or
 * crashes again and again, to the next run.
 */
function isBusy(instance: InstanceStatus, desk: QuestionDesk): boolean {
  const { queued, questions = 0 } = instance;
  return queued > 0 && !isGivenUp(instance) && (questions === 0 || desk.isFor(instance));
}

const MOST_CRASHES = 3;

/** A process that cannot load its agent may be tried again for ever. */
function isGivenUp({ status, problem, crashes }: InstanceStatus): boolean {
  return status === 'does not start' || (problem !== undefined && crashes >= MOST_CRASHES);
}
