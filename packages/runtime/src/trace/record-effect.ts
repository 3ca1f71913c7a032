/** Records an effect. The record is built when it is written, with secrets masked. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { shortenMasked } from '../log/shorten-masked.ts';
import { type Mask, maskJson, versionOf } from '../log/mask-secrets.ts';
import { currentScope } from './draw-scope.ts';
import type { EffectRecord, RecordedOutcome } from './effect-record.ts';
import type { WatchedEffect } from './layer-span.ts';
import { type AskedModel, RequestRecorder } from './model-request.ts';
import { RunningSpan } from './running-span.ts';
import { recordThrown } from './thrown-record.ts';
import { WrittenRequests } from './written-requests.ts';

/** The maximum number of characters of an outcome. A longer outcome is not kept, and its turn cannot be replayed. */
const LONGEST_OUTCOME = 1_000_000;

export class EffectRecorder {
  readonly #requests = new RequestRecorder();

  /**
   * Call this method in the scope in which the effect was requested. The returned function builds the record later;
   * call these functions in the order in which the records are written.
   */
  record(effect: WatchedEffect, mask: Mask): (written?: WrittenRequests) => EffectRecord {
    const make = this.recordUnmasked(effect, mask);
    // Safe: the record is JSON and keeps its shape.
    return (written) => maskJson(make(written) as unknown as JsonObject, mask) as unknown as EffectRecord;
  }

  /** Like `record`. Long texts are masked where they are cut; the caller masks all others. */
  recordUnmasked(
    { key, kind, asked, outcome }: WatchedEffect,
    mask: Mask,
  ): (written?: WrittenRequests) => EffectRecord {
    // The error is copied now, because it may get further fields while it propagates.
    const ended: RecordedOutcome = outcome.ok
      ? { ok: true, value: outcome.value as JsonValue }
      : { ok: false, error: recordThrown(outcome.thrown, mask) };
    const scope = currentScope();
    const by =
      scope instanceof RunningSpan ? (scope.asker ?? (kind === 'model' ? scope.starter : undefined)) : undefined;
    const layers = kind === 'model' && scope instanceof RunningSpan ? scope.changers : undefined;
    return (written = new WrittenRequests()) => {
      // Safe: only `call-model.ts` calls models, and it makes this request.
      const request =
        kind === 'model'
          ? this.#requests.refer(key, asked as AskedModel, written, layers && { layers, mask })
          : undefined;
      const isLong = (JSON.stringify(ended) ?? '').length > LONGEST_OUTCOME;
      return {
        key,
        kind,
        ...(by === undefined ? {} : { by }),
        asked: this.describe(kind, asked, mask),
        ...(request === undefined ? {} : { request }),
        ...(isLong ? {} : { outcome: ended }),
      };
    };
  }

  /** Describes a request in the form that is stored and compared. */
  describe(kind: WatchedEffect['kind'], asked: unknown, mask: Mask): JsonValue {
    if (kind === 'model') return this.#requests.record(asked as AskedModel, shortenMasked(mask), versionOf(mask));
    return maskJson(JSON.parse(JSON.stringify(asked) ?? 'null') as JsonValue, mask);
  }
}
