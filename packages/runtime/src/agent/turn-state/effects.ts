/**
 * Effects: model calls, tool calls, requests to other agents and questions to people. Each is recorded when it
 * completes; a resumed turn gets the record and does not do it again. Outcomes are copied on the way in and out: layers
 * may change a reply or a result in place, and on resume they do so again, to what was recorded.
 *
 * Whatever reaches the outside does so inside `perform`: whoever watches the turn hears of all of it, and a replay, in
 * which nothing reaches the outside, has no other place to see to.
 */
import { GoondanError, isErrorCode, type JsonValue } from '@goondan/types';
import { copyJson } from '../../json/copy-json.ts';
import { snapshotJson } from '../../json/snapshot-json.ts';
import { outsideLayers } from '../../trace/draw-scope.ts';
import type { EffectKind } from '../../trace/effect-record.ts';
import type { TurnObserver } from '../../trace/layer-span.ts';
import type { EffectOutcome } from '../conversation/conversation-store.ts';
import type { TurnLog, TurnLogWriter } from '../conversation/turn-log.ts';
import type { TurnReplay } from './turn-replay.ts';

/** An effect that is about to happen. */
export interface Effect {
  readonly key: string;
  readonly kind: EffectKind;
  /** What is asked for, as it is now; made when somebody wants to know. */
  readonly asked: () => unknown;
}

export class Effects {
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly before: Pick<TurnLog, 'effects' | 'intents'>,
    private readonly writer: TurnLogWriter,
    private readonly observer?: Pick<TurnObserver, 'asked' | 'effect'> | undefined,
    private readonly replay?: TurnReplay | undefined,
  ) {}

  /** Does it; in a replay, gives what it gave. */
  async perform<Value>({ key, kind, asked }: Effect, act: () => Promise<Value>): Promise<Value> {
    // What was recorded under this key is what this road gave then.
    if (this.replay !== undefined) return this.replay.serve({ key, kind, asked: asked() }) as Promise<Value>;
    const { observer } = this;
    if (observer?.effect === undefined) return act();
    const watched = { key, kind, asked: asked() };
    observer.asked?.(key);
    try {
      const value = await outsideLayers(act);
      observer.effect({ ...watched, outcome: { ok: true, value: snapshotJson(value) } });
      return value;
    } catch (thrown) {
      observer.effect({ ...watched, outcome: { ok: false, thrown } });
      throw thrown;
    }
  }

  /** A key for the next effect of this kind in a scope: the same in every run that takes the same way. */
  nextKey(scope: string, kind: EffectKind): string {
    const name = `${scope}/${kind}`;
    const count = this.counts.get(name) ?? 0;
    this.counts.set(name, count + 1);
    return `${name}/${count}`;
  }

  isRecorded(key: string): boolean {
    return this.before.effects.has(key);
  }

  recorded(key: string): EffectOutcome | undefined {
    const outcome = this.before.effects.get(key);
    return outcome === undefined ? undefined : copyOutcome(outcome);
  }

  /** It was begun before a crash, however it ended. */
  wasBegun(key: string): boolean {
    return this.before.intents.has(key);
  }

  /** It was begun before a crash and nobody knows how it ended. */
  isInterrupted(key: string): boolean {
    return this.wasBegun(key) && !this.before.effects.has(key);
  }

  intend(key: string, kind: EffectKind): void {
    this.writer.write({ type: 'intent', key, kind });
  }

  record(key: string, kind: EffectKind, outcome: EffectOutcome): void {
    this.writer.write({ type: 'effect', key, kind, outcome: copyOutcome(outcome) });
  }
}

function copyOutcome(outcome: EffectOutcome): EffectOutcome {
  return outcome.ok ? { ok: true, value: copyJson(outcome.value, { omitUndefined: true }) } : outcome;
}

/** The value of a recorded outcome, or its error thrown again. */
export function valueOfOutcome(outcome: EffectOutcome): JsonValue {
  if (outcome.ok) return outcome.value;
  const { code, message } = outcome.error;
  throw new GoondanError(isErrorCode(code) ? code : 'E_AGENT_FAILED', message);
}
