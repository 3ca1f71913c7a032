/**
 * The input that a node knows of, so that the scan tells it only of new input. A note is valid for one claim of an
 * instance: with the next claim, everything is told again.
 */
import { addressKey } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import type { PendingInput } from './scan.ts';

interface Note {
  readonly epoch: number;
  /** Every event up to this number is known. */
  last: number;
  readonly cancelled: ReadonlySet<number>;
  /** The number of scans since the input was told. */
  scans: number;
}

/** Input that is still pending is told again after so many scans, because the node may have failed to read it. */
const TOLD_AGAIN_AFTER = 30;

export class ToldInput {
  readonly #notes = new Map<string, Note>();

  /** Returns true if the input has to be told, and notes it as told. */
  isNew({ instance, last, cancelled }: PendingInput, epoch: number): boolean {
    const kept = this.#notes.get(addressKey(instance));
    const note = kept?.epoch === epoch ? kept : undefined;
    if (note && note.last >= last && cancelled.every((seq) => note.cancelled.has(seq))) {
      note.scans += 1;
      if (note.scans < TOLD_AGAIN_AFTER) return false;
    }
    const known = { last: Math.max(last, note?.last ?? 0), cancelled: new Set(cancelled) };
    this.#notes.set(addressKey(instance), { epoch, ...known, scans: 0 });
    return true;
  }

  /** Notes an event that the node has accepted itself, if it knows all events before. */
  accepted(instance: AgentAddress, epoch: number, seq: number): void {
    const note = this.#notes.get(addressKey(instance));
    if (note?.epoch === epoch && note.last === seq - 1) note.last = seq;
  }

  /** Drops the notes about instances that the node does not own. */
  keep(owns: (key: string) => boolean): void {
    for (const key of this.#notes.keys()) if (!owns(key)) this.#notes.delete(key);
  }
}
