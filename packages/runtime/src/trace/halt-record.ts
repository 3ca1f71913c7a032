/**
 * Where a run of a turn stood when it could not go on: it was cancelled, its time was up, or its process left it to the
 * next one while it waited for a person. JSON.
 */
import type { LayerStage } from './turn-trace.ts';
import type { ThrownRecord } from './effect-record.ts';

export interface HaltRecord {
  /** What it was cancelled with. Absent: its process left it. */
  readonly error?: ThrownRecord;
  /** How many of its chains had begun. */
  readonly begun: number;
  /** Those that ran, by their numbers, with how far each of their layers was. */
  readonly open: readonly {
    readonly n: number;
    /** In the order in which they began; null of one that was over. */
    readonly stages: readonly (LayerStage | null)[];
  }[];
  /** Keys of the effects that were asked for and had not ended. */
  readonly asked: readonly string[];
}
