/**
 * Decides when a replay of a halted run has reached the point of the halt: every recorded effect has been requested,
 * every finished chain has ended, and the running layers have got as far as in the recording. Nothing is compared after
 * that point.
 */
import type { ChainRecord } from '../../trace/turn-trace.ts';
import type { EffectRecord } from '../../trace/effect-record.ts';
import type { Recording } from '../../trace/recording.ts';
import type { ReplayedSpan } from './replayed-span.ts';

export class Halting {
  /** Keys of recorded effects that the replay has not requested yet. */
  readonly #unasked: Set<string>;
  /** Recorded chains that ended before the halt and have not ended in the replay yet. */
  readonly #running: Set<ChainRecord>;
  /** Chains that were running at the halt. */
  readonly #open: ChainRecord[];
  readonly #found = new Map<ChainRecord, ReplayedSpan>();

  /** The recording must have a `halt`. */
  constructor({ chain, effects, halt }: Pick<Recording, 'chain' | 'effects' | 'halt'>) {
    this.#unasked = new Set([
      ...effects.filter(isAskedByLayers).map(({ key }) => key),
      ...outermost(halt?.asked ?? []),
    ]);
    const chains = halt?.hasBegun === true ? allIn(chain) : [];
    this.#running = new Set(chains.filter(({ isUnfinished }) => isUnfinished !== true));
    this.#open = chains.filter(({ isUnfinished }) => isUnfinished === true);
  }

  asked(key: string): void {
    this.#unasked.delete(key);
  }

  began(then: ChainRecord, now: ReplayedSpan): void {
    this.#found.set(then, now);
  }

  ended(then: ChainRecord): void {
    this.#running.delete(then);
  }

  get isReached(): boolean {
    if (this.#unasked.size > 0 || this.#running.size > 0) return false;
    return this.#open.every((then) => this.#found.get(then)?.isAtHalt === true);
  }
}

/** Returns false for a tool's requests to other agents and to people, because a replay does not run the tool. */
function isAskedByLayers({ kind, by }: EffectRecord): boolean {
  return (kind !== 'agent' && kind !== 'approval') || by !== undefined;
}

/** Leaves out keys of requests made by a tool whose own call had not ended. */
function outermost(keys: readonly string[]): readonly string[] {
  return keys.filter((key) => !keys.some((other) => key.startsWith(`${other}/`)));
}

function allIn(chain: ChainRecord): ChainRecord[] {
  return [chain, ...chain.inside.flatMap(allIn)];
}
