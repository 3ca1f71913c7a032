/**
 * Passes the spans of one running turn to the exporter: those of a chain when the chain ends, and those of the turn
 * when the turn is committed. So a crash loses only the spans of running parts.
 *
 * 1. A span is passed on once. If a crash interrupted an earlier run of the turn, that run has already passed on the
 *    chains that had ended. This run passes on the turn, and the steps that had not ended, under the same ids.
 * 2. The parent of every span is exported, too. For this reason, a chain that was running when its turn was given up is
 *    passed on as unfinished.
 * 3. While the turn runs, only values that may change later are converted. Everything else is converted later.
 */
import type { WatchedEnd, WatchedTurn } from '../trace/layer-span.ts';
import type { RunningSpan } from '../trace/running-span.ts';
import type { TurnListener } from '../trace/watch-turn.ts';
import type { OtlpSpan } from './otlp.ts';
import { endedSpan, type EndedSpan } from './ended-span.ts';
import { toOtlpSpans } from './to-otlp-spans.ts';
import { spansOfTurn } from './spans-of-turn.ts';
import type { TurnPlace } from './turn-place.ts';

/** Spans that are described later, outside the turn. */
export interface SpanSource {
  /** The number of spans. */
  readonly count: number;
  spans(): readonly OtlpSpan[];
}

export class TurnSpans implements TurnListener {
  readonly #open = new Set<RunningSpan>();
  /**
   * Chains whose spans were passed on. A step that has ended is reported again if it later counts as failed, but its
   * span is passed on only once.
   */
  readonly #told = new WeakSet<RunningSpan>();
  #place: TurnPlace | undefined;
  #chain: RunningSpan | undefined;

  constructor(
    private readonly agent: Omit<TurnPlace, 'turn' | 'startedAt'>,
    private readonly add: (source: SpanSource) => void,
  ) {}

  started(turn: WatchedTurn, startedAt: number): void {
    // The trace of this turn is not exported.
    if (turn.event.isSampled === false) return;
    this.#place = { ...this.agent, turn, startedAt };
  }

  changed(chain: RunningSpan): void {
    const { kind, isRepeated = false } = chain.chain;
    if (this.#place === undefined || isRepeated) return;
    if (kind === 'turn') {
      this.#chain = chain;
      return;
    }
    if (chain.outcome === 'running') {
      this.#open.add(chain);
      return;
    }
    this.#open.delete(chain);
    if (this.#told.has(chain)) return;
    this.#told.add(chain);
    this.#tell(endedSpan(chain, this.agent.hasContent));
  }

  ended(end: WatchedEnd, durationMs: number): void {
    const place = this.#place;
    if (place === undefined) return;
    const endedAt = place.startedAt + durationMs;
    const leftAt = { elapsed: endedAt, error: end.result.error };
    for (const chain of this.#open) this.#tell(endedSpan(chain, place.hasContent, leftAt));
    const chain = this.#chain;
    this.add({ count: 1 + (chain?.layers.length ?? 0), spans: () => spansOfTurn(end, chain, endedAt, place) });
    this.#place = undefined;
  }

  #tell(seen: EndedSpan): void {
    const place = this.#place;
    if (place === undefined) return;
    this.add({ count: 1 + seen.recorded.layers.length, spans: () => toOtlpSpans(seen, place) });
  }
}
