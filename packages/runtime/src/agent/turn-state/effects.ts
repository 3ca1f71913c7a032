/**
 * Effects: model calls, tool calls, requests to other agents and approval requests. Each effect is recorded when it
 * completes; a resumed turn uses the record and does not repeat the effect. Outcomes are copied on the way in and out,
 * because layers may change a reply or a result in place, and in a resumed turn they do it again.
 *
 * All access to the outside happens inside `perform`. So an observer of the turn sees every effect, and a replay can
 * return the recorded outcome there instead of reaching the outside.
 */
import { GoondanError, isErrorCode, type JsonValue } from '@goondan/types';
import { copyJson } from '../../json/copy-json.ts';
import { snapshotJson } from '../../json/snapshot-json.ts';
import { outsideLayers } from '../../trace/draw-scope.ts';
import type { EffectKind } from '../../trace/effect-record.ts';
import type { TurnObserver } from '../../trace/layer-span.ts';
import type { EffectOutcome } from '../../trace/resume-point.ts';
import type { RecordedEffect } from '../../usage/count-turn.ts';
import type { TurnLog, TurnLogWriter } from '../conversation/turn-log.ts';
import type { TurnReplay } from './turn-replay.ts';

export interface PerformedEffect {
  readonly key: string;
  readonly kind: EffectKind;
  /** Makes a copy of the request. */
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

  /**
   * Runs the effect; in a replay, returns its recorded outcome. `asked` makes a copy of the request; it is called only
   * when an observer or a replay needs it.
   */
  perform<Value>(effect: PerformedEffect, act: () => Promise<Value>): Promise<Value> {
    return this.replay === undefined && this.observer?.effect === undefined ? act() : this.performWatched(effect, act);
  }

  private async performWatched<Value>(
    { key, kind, asked }: PerformedEffect,
    act: () => Promise<Value>,
  ): Promise<Value> {
    // Safe: the recording has the value that `act` returned under this key.
    if (this.replay !== undefined) return this.replay.serve({ key, kind, asked: asked() }) as Promise<Value>;
    const { observer } = this;
    if (observer?.effect === undefined) return act();
    const watched = { key, kind, asked: asked() };
    observer.asked?.(key, kind);
    try {
      const value = await outsideLayers(act);
      observer.effect({ ...watched, outcome: { ok: true, value: snapshotJson(value) } });
      return value;
    } catch (thrown) {
      observer.effect({ ...watched, outcome: { ok: false, thrown } });
      throw thrown;
    }
  }

  /**
   * Returns a key for the next effect of this kind in a scope. Runs of a turn that request the same effects in the same
   * order get the same keys.
   */
  nextKey(scope: string, kind: EffectKind): string {
    const name = `${scope}/${kind}`;
    const count = this.counts.get(name) ?? 0;
    this.counts.set(name, count + 1);
    return `${name}/${count}`;
  }

  isRecorded(key: string): boolean {
    return this.before.effects.has(key);
  }

  /**
   * Returns the value that an earlier run recorded, or throws the recorded error. Returns `undefined` without a record.
   */
  recorded(key: string): JsonValue | undefined {
    const outcome = this.before.effects.get(key);
    if (outcome === undefined) return undefined;
    if (outcome.ok) return copyJson(outcome.value, { omitUndefined: true });
    const { code, message } = outcome.error;
    throw new GoondanError(isErrorCode(code) ? code : 'E_AGENT_FAILED', message);
  }

  /** Returns true if the effect started before a crash, with or without an outcome. */
  wasBegun(key: string): boolean {
    return this.before.intents.has(key);
  }

  /** Returns true if the effect started before a crash and has no recorded outcome. */
  isInterrupted(key: string): boolean {
    return this.wasBegun(key) && !this.before.effects.has(key);
  }

  intend(key: string, kind: EffectKind): void {
    this.writer.write({ type: 'intent', key, kind });
  }

  /** Records the outcome, with the tokens that were paid for it. */
  record(
    key: string,
    kind: EffectKind,
    outcome: EffectOutcome,
    spent: Pick<RecordedEffect, 'paid' | 'called'> = {},
  ): void {
    const copy = outcome.ok ? { ok: true as const, value: copyJson(outcome.value, { omitUndefined: true }) } : outcome;
    this.writer.write({ type: 'effect', key, kind, outcome: copy, ...spent });
  }
}
