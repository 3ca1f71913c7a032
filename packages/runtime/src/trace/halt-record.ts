/**
 * The state of a run that stopped early: it was cancelled, reached its deadline, or its process ended while the turn
 * waited for a person. The record is JSON.
 */
import type { LayerRecord } from './turn-trace.ts';
import type { ThrownRecord } from './effect-record.ts';

export interface HaltRecord {
  /** The reason of the cancel. Absent when the process left the turn instead. */
  readonly error?: ThrownRecord;
  /** The number of the run's chains that had begun. */
  readonly begun: number;
  /** The chains that were running, by number, with the stage of each layer. */
  readonly open: readonly {
    readonly n: number;
    /** Stages in the order in which the layers began; null for a layer that had ended. */
    readonly stages: readonly (LayerRecord['stage'] | null)[];
  }[];
  /** Keys of the effects that had begun but not ended. */
  readonly asked: readonly string[];
}
