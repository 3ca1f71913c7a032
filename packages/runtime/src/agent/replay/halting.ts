/**
 * When a replay of a run that was halted has come to where that was: everything that had been asked for has been asked
 * for, what was over is over, and the layers that ran are as far as they were. Nothing is compared from there on.
 */
import type { ChainRecord } from '../../trace/turn-trace.ts';
import type { EffectRecord } from '../../trace/effect-record.ts';
import type { Recording } from '../../trace/recording.ts';
import type { ReplayedSpan } from './replayed-span.ts';

export class Halting {
  /** Keys of effects that are still to be asked for. */
  readonly #unasked: Set<string>;
  /** Chains that are still to end. */
  readonly #running: Set<ChainRecord>;
  /** Chains that ran then. */
  readonly #open: ChainRecord[];
  readonly #found = new Map<ChainRecord, ReplayedSpan>();

  /** `halt` is there. */
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

/** What a tool asked other agents for is not asked for when the tool is not run. */
function isAskedByLayers({ kind, by }: EffectRecord): boolean {
  return kind !== 'agent' || by !== undefined;
}

/** Without what a tool asked for that had not ended itself. */
function outermost(keys: readonly string[]): readonly string[] {
  return keys.filter((key) => !keys.some((other) => key.startsWith(`${other}/`)));
}

function allIn(chain: ChainRecord): ChainRecord[] {
  return [chain, ...chain.inside.flatMap(allIn)];
}
