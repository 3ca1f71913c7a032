/**
 * Runs the turns that the orchestrator requests, one after the other. The text of each turn is streamed while the turn
 * runs, and its result is sent after its commit.
 *
 * If a turn has no result, it could not be committed (`E_DISK_FULL`, `E_FENCED`, …). The memory of this process may
 * then differ from the disk. The turn is lost: the process reports the reason and ends, and the next process runs the
 * turn again.
 */
import { type AgentEvent, endingOf, GoondanError, type TurnDelta, type TurnResult } from '@goondan/types';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import { TurnClock } from '../turn-state/turn-clock.ts';
import { turnIdOf } from '../../ports/ids.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { TurnObserver } from '../../trace/layer-span.ts';
import { waitAtMost } from '../../ports/clock.ts';
import type { RunningAgent } from '../start/start-agent.ts';
import { Cancellations } from './cancellations.ts';
import { sendResult } from './send-result.ts';
import type { AgentChannel } from './process-host.ts';
import type { TurnWatch } from './turn-watch.ts';

export interface TurnRunnerDeps {
  readonly agent: Pick<RunningAgent, 'handle' | 'parts'>;
  /** Returns an observer for the layers of a turn; undefined when the turn is not observed. */
  readonly observe: () => TurnObserver | undefined;
  readonly channel: AgentChannel;
  readonly watch: Pick<TurnWatch, 'wrote' | 'turnEnded'>;
  /** Resolves when the traces of all turns so far are written. Never rejects. */
  readonly written: () => Promise<void>;
  /** Called when the last running turn has ended. */
  readonly onIdle: () => void;
  readonly onLost: (eventId: string, thrown: unknown) => void;
}

export class TurnRunner {
  readonly cancellations = new Cancellations();
  readonly #running = new Set<Promise<void>>();
  /** Clocks of the running turns, by event id. */
  readonly #clocks = new Map<string, { readonly clock: TurnClock; isHeld: boolean }>();

  constructor(private readonly deps: TurnRunnerDeps) {}

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  ask(turn: Extract<ToAgent, { readonly type: 'turn' }>): void {
    const run = this.#run(turn).finally(() => {
      this.#running.delete(run);
      if (this.isIdle) this.deps.onIdle();
    });
    this.#running.add(run);
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

  async #run({ event, deadLetter, isExcused }: Parameters<TurnRunner['ask']>[0]): Promise<void> {
    const { agent, channel, watch, observe, written, onLost } = this.deps;
    const signal = this.cancellations.begin(event.id);
    const clock = new TurnClock(agent.parts.clock);
    this.#clocks.set(event.id, { clock, isHeld: false });
    try {
      const options = {
        signal,
        clock,
        deadLetter,
        isExcused,
        observer: observe(),
        onDelta: (delta: TurnDelta) => watch.wrote(event.id, delta),
      };
      const { result, stepCount, usage } = await agent
        .handle(event, options)
        .catch((error: unknown) => forgotten(event, error));
      if (endingOf(result) === 'cancelled') await waitAtMost(agent.parts.clock, LAST_LINES_MS, written());
      watch.turnEnded();
      await sendResult(channel, { type: 'turn.done', eventId: event.id, result, stepCount, usage });
    } catch (error) {
      onLost(event.id, error);
    } finally {
      this.cancellations.end(event.id);
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
  return { result, stepCount: 0, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
}
