/** An effect as a recording keeps it: put into words when it is written, and masked. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { shortenMasked } from '../json/shorten-masked.ts';
import { type Mask, maskJson } from '../log/mask-secrets.ts';
import { currentScope } from './draw-scope.ts';
import type { EffectRecord, RecordedOutcome } from './effect-record.ts';
import type { WatchedEffect } from './layer-span.ts';
import { type AskedModel, RequestRecorder, WrittenRequests } from './model-request.ts';
import { RunningSpan } from './running-span.ts';
import { recordThrown } from './thrown-record.ts';

/** Characters of an outcome; a longer one is not kept, and its turn cannot be replayed. */
const LONGEST_OUTCOME = 1_000_000;

export class EffectRecorder {
  readonly #requests = new RequestRecorder();

  /**
   * Called where the effect was asked for. The returned function makes the record, later; records of a run are made in
   * the order in which they are written.
   */
  record({ key, kind, asked, outcome }: WatchedEffect, mask: Mask): (written?: WrittenRequests) => EffectRecord {
    // An error may get other fields on its way out.
    const ended: RecordedOutcome = outcome.ok
      ? { ok: true, value: outcome.value as JsonValue }
      : { ok: false, error: recordThrown(outcome.thrown) };
    const scope = currentScope();
    const by = scope instanceof RunningSpan ? scope.asker : undefined;
    return (written = new WrittenRequests()) => {
      // `call-model.ts` says what a model is asked with, and nobody else asks one.
      const request = kind === 'model' ? this.#requests.refer(key, asked as AskedModel, written) : undefined;
      const isLong = (JSON.stringify(ended) ?? '').length > LONGEST_OUTCOME;
      const record: EffectRecord = {
        key,
        kind,
        ...(by === undefined ? {} : { by }),
        asked: this.describe(kind, asked, mask),
        ...(request === undefined ? {} : { request }),
        ...(isLong ? {} : { outcome: ended }),
      };
      return maskJson(record as unknown as JsonObject, mask) as unknown as EffectRecord;
    };
  }

  /** What was asked for, as it is kept and compared. */
  describe(kind: WatchedEffect['kind'], asked: unknown, mask: Mask): JsonValue {
    if (kind === 'model') return this.#requests.record(asked as AskedModel, shortenMasked(mask));
    return maskJson(JSON.parse(JSON.stringify(asked) ?? 'null') as JsonValue, mask);
  }
}
