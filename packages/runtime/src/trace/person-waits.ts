/** Measures how long layers wait for a person, so that this time does not count as their own time, and notes the answers. */
import type { ApprovalOutcome } from '@goondan/types';
import { currentScope } from './draw-scope.ts';
import type { EffectKind } from './effect-record.ts';
import type { WatchedEffect } from './layer-span.ts';
import type { RecordedLayer } from './recorded-layer.ts';
import { RunningSpan } from './running-span.ts';

export class PersonWaits {
  /** The layers that wait, by the key of their question. The runtime limits the number of open questions. */
  readonly #waiting = new Map<string, RecordedLayer>();

  /** Call this method in the scope of the layer that asks. */
  begin(key: string, kind: EffectKind): void {
    if (kind !== 'approval') return;
    const scope = currentScope();
    const layer = scope instanceof RunningSpan ? scope.activeLayer : undefined;
    if (layer === undefined) return;
    layer.beginWait();
    this.#waiting.set(key, layer);
  }

  end({ key, outcome }: Pick<WatchedEffect, 'key' | 'outcome'>): void {
    const layer = this.#waiting.get(key);
    this.#waiting.delete(key);
    // Safe: the layer asked a person, so that the outcome is an answer.
    layer?.endWait(outcome.ok ? (outcome.value as ApprovalOutcome) : undefined);
  }
}
