/**
 * Runs the turns that the orchestrator requests, one after the other. The text of each turn is streamed while the turn
 * runs, and its result is sent after its commit.
 *
 * An event may be handed ahead while a turn runs. Its turn begins when the result of the running turn was sent, and that
 * result says so. So the orchestrator knows at each moment which turn a process runs, however the process ends.
 *
 * An event may also be handed to the running turn itself, which may take its input between two steps. The result says which
 * events the turn has taken. The others are not kept: they come again.
 *
 * If a turn has no result, it could not be committed (`E_DISK_FULL`, `E_FENCED`, …). The memory of this process may
 * then differ from the disk. The turn is lost: the process reports the reason and ends, and the next process runs the
 * turn again.
 */
import { type AgentEvent, endingOf, GoondanError, type TurnDelta, type TurnResult } from '@goondan/types';
import { NO_USAGE } from '../../ports/token-usage.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import { TurnClock } from '../turn-state/turn-clock.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { TurnObserver } from '../../trace/layer-span.ts';
import { waitAtMost } from '../../ports/clock.ts';
import type { RunningAgent } from '../start/start-agent.ts';
import { checkAgentEvent } from '../start/check-agent-event.ts';
import { WaitingInputs } from '../turn-state/waiting-inputs.ts';
import type { TurnInput } from '../conversation/conversation-store.ts';
import { Cancellations } from './cancellations.ts';
import { sendResult } from './send-result.ts';
import type { AgentChannel } from './process-host.ts';
import type { TurnWatch } from './turn-watch.ts';

export interface TurnRunnerDeps {
  readonly agent: Pick<RunningAgent, 'handle' | 'parts'>;
  /** Returns an observer for the layers of a turn; undefined when the turn is not observed. */
  readonly observe: () => TurnObserver | undefined;
  readonly channel: AgentChannel;
  readonly watch: Pick<TurnWatch, 'wrote' | 'turnBegan' | 'turnEnded'>;
  /** Resolves when the traces of all turns so far are written. Never rejects. */
  readonly written: () => Promise<void>;
  /** Called when a turn has ended. The next turn begins when the promise resolves. Never rejects. */
  readonly onTurnEnded: () => Promise<void>;
  readonly onLost: (eventId: string, thrown: unknown) => void;
}

/** The fields of a `turn`; those of a `turn.ahead` are fewer. */
type Turn = Omit<Extract<ToAgent, { readonly type: 'turn' }>, 'type'>;

interface BegunTurn {
  readonly signal: AbortSignal;
  /** True if the cancel came before the beginning. */
  readonly isCancelled: boolean;
  readonly waiting: WaitingInputs;
}

export class TurnRunner {
  readonly #cancellations = new Cancellations();
  /** The inputs that wait for the running turn. */
  #waiting: WaitingInputs | undefined;
  readonly #running = new Set<Promise<void>>();
  #ahead: Turn | undefined;
  /** Set from the time at which a result announces the next turn until that turn begins. */
  #announced: (BegunTurn & { readonly begun: PromiseWithResolvers<void> }) | undefined;
  /** Clocks of the running turns, by event id. */
  readonly #clocks = new Map<string, { readonly clock: TurnClock; isHeld: boolean }>();

  constructor(private readonly deps: TurnRunnerDeps) {}

  /** True when no turn runs and none is about to begin. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** True when no turn runs, even if one is about to begin. */
  get isBetweenTurns(): boolean {
    return this.#clocks.size === 0;
  }

  ask(turn: Turn): void {
    // The event may have been handed ahead too late for the end of the last turn.
    this.#ahead = undefined;
    const run = this.#runInOrder(turn).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Takes the event of the next turn, which begins after the running turn. */
  handAhead(turn: Turn): void {
    this.#ahead = turn;
  }

  /** Hands an event to the running turn, or to the one that is announced. */
  steer({ seq, event }: TurnInput): void {
    const { instanceKey } = this.deps.agent.parts.address;
    const waiting = this.#announced?.waiting ?? this.#waiting;
    waiting?.add({ seq, event: checkAgentEvent(event, instanceKey) });
  }

  /** Cancels the turn of an event, or the turn that has taken it. */
  cancel(eventId: string, reason: string): void {
    this.#announced?.waiting.remove(eventId);
    this.#waiting?.remove(eventId);
    this.#cancellations.cancel(eventId, reason);
  }

  /**
   * Forgets the event that was handed ahead, because the process or the swarm ends. Resolves when the turn of an event that the
   * process has already announced has begun.
   */
  async takeBackAhead(): Promise<void> {
    this.#ahead = undefined;
    await this.#announced?.begun.promise;
  }

  /**
   * Pauses or resumes the clock of this event's turn. `isHeld`: true while an agent that the turn called waits for a
   * person.
   */
  hold(eventId: string, isHeld: boolean): void {
    const held = this.#clocks.get(eventId);
    if (held === undefined || held.isHeld === isHeld) return;
    held.isHeld = isHeld;
    if (isHeld) held.clock.pause();
    else held.clock.resume();
    this.deps.agent.parts.activity.hold(isHeld);
  }

  /** Resolves when all turns so far are answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #runInOrder(first: Turn): Promise<void> {
    let next: Turn | undefined = first;
    while (next !== undefined) {
      const run = this.#run(next);
      this.#endAnnouncement();
      next = await run;
      await this.deps.onTurnEnded();
    }
  }

  /** Decides which turn begins next. From now on, it is begun whatever arrives. */
  #announce(): Turn | undefined {
    const next = this.#ahead;
    this.#ahead = undefined;
    if (next !== undefined) this.#announced = { ...this.#begin(next), begun: Promise.withResolvers() };
    return next;
  }

  #endAnnouncement(): void {
    this.#announced?.begun.resolve();
    this.#announced = undefined;
  }

  /** From now on, the turn is handed events, and a cancel comes after its beginning. */
  #begin({ event }: Turn): BegunTurn {
    const signal = this.#cancellations.begin(event.id);
    const waiting = new WaitingInputs((eventId) => this.#cancellations.join(eventId, event.id));
    return { signal, isCancelled: signal.aborted, waiting };
  }

  /** Runs a turn. Returns the event that was handed ahead, if its turn begins next. */
  async #run(turn: Turn): Promise<Turn | undefined> {
    const { seq, event, deadLetter, blocked, takeOvers, isExcused } = turn;
    const { agent, channel, watch, observe, written, onLost } = this.deps;
    const { signal, isCancelled, waiting } = this.#announced ?? this.#begin(turn);
    this.#waiting = waiting;
    const clock = new TurnClock(agent.parts.clock);
    this.#clocks.set(event.id, { clock, isHeld: false });
    watch.turnBegan(event.id);
    try {
      const options = {
        seq,
        signal,
        isCancelled,
        clock,
        deadLetter,
        blocked,
        takeOvers,
        isExcused,
        waiting,
        observer: observe(),
        onDelta: (delta: TurnDelta) => watch.wrote(event.id, delta),
      };
      const outcome = await agent.handle(event, options).catch((error: unknown) => forgotten(event, error));
      if (endingOf(outcome.result) === 'cancelled') await waitAtMost(agent.parts.clock, LAST_LINES_MS, written());
      watch.turnEnded();
      const next = this.#announce();
      const begins = next === undefined ? {} : { begins: next.event.id };
      const took = waiting.taken.length === 0 ? {} : { took: [...waiting.taken] };
      await sendResult(channel, { type: 'turn.done', eventId: event.id, ...outcome, ...took, ...begins });
      return next;
    } catch (error) {
      this.#endAnnouncement();
      onLost(event.id, error);
      return undefined;
    } finally {
      if (this.#waiting === waiting) this.#waiting = undefined;
      this.#cancellations.end(event.id, ...waiting.taken);
      this.#clocks.delete(event.id);
    }
  }
}

/**
 * The time to write the traces of a cancelled turn. The client often ends the process right after a cancel, and people
 * want to see later where the turn stopped.
 */
const LAST_LINES_MS = 500;

/**
 * Makes an error result for an event whose result is no longer kept. Rethrows every other error, because it is a
 * failure of this process.
 */
function forgotten(event: AgentEvent, thrown: unknown): TurnOutcome {
  if (!GoondanError.is(thrown) || thrown.code !== 'E_TURN_FORGOTTEN') throw thrown;
  const { code, message } = thrown;
  const result: TurnResult = { turnId: turnIdOf(event.id), finishReason: 'error', error: { code, message } };
  return { result, stepCount: 0, usage: NO_USAGE };
}
