/**
 * The files that follow the log of an open instance: checkpoints, full segments and the base. Everything here runs between
 * turns, in the order of the writer.
 */
import type { Message } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { makeEntry } from '../records/instance-index.ts';
import type { InstanceMetadata } from '../records/metadata.ts';
import { foldBase, readBaseFile } from '../records/read-base.ts';
import { corruptLog, readLog, type ReadLog } from '../records/read-log.ts';
import { writeCheckpoint } from './checkpoint.ts';
import { deleteOldSegments } from './delete-old-segments.ts';
import type { EntrySource } from './index-notes.ts';
import type { LoadedInstance } from './load-instance.ts';

/** The states by extension name. */
type Texts = ReadonlyMap<string, string>;

export class CheckpointFiles {
  #metadata: InstanceMetadata;
  /** False while the instance has no `metadata.json`. */
  #hasCheckpoint: boolean;

  constructor(
    private readonly stored: StoredInstance,
    private readonly loaded: LoadedInstance,
  ) {
    this.#metadata = loaded.metadata;
    this.#hasCheckpoint = loaded.hasCheckpoint;
  }

  /** The epoch of the last owner that closed the instance with a checkpoint. */
  get closedBy(): number {
    return this.#metadata.checkpoint.closedBy;
  }

  /** Whether there is work for `maintain`. */
  get isDue(): boolean {
    return this.#isCheckpointDue || this.loaded.log.isFull;
  }

  /** Returns the entry for the index. */
  describe(): ReturnType<EntrySource> {
    return makeEntry(this.stored, this.loaded.state, this.#metadata.createdAt, false);
  }

  /** Reads the committed messages. **Errors** — `E_STORE_CORRUPT`. */
  async readBase(): Promise<readonly Message[]> {
    const { turns } = await this.#readTail();
    const file = await readBaseFile(this.stored, this.#metadata.checkpoint.base);
    if (file) return foldBase(file, turns);
    throw await corruptStore(this.stored, this.stored.paths.base, 'it does not match the checkpoint');
  }

  /** Writes a checkpoint and begins a segment, if they are due. */
  async maintain(texts: Texts): Promise<void> {
    const { log, state } = this.loaded;
    if (state.open.turnId !== undefined) return;
    if (this.#isCheckpointDue) await this.#checkpoint(texts);
    if (log.isFull) await this.#rotate(texts);
  }

  /** Writes the last checkpoint of an owner and closes the log. Returns the entry for the index. */
  async finish(texts: Texts, epoch: number): ReturnType<EntrySource> {
    const { log, state } = this.loaded;
    const { segment, offset } = this.#metadata.checkpoint;
    const isNews = log.place.segment !== segment || log.place.offset !== offset;
    if (isNews && state.open.turnId === undefined) await this.#checkpoint(texts, epoch);
    // A log that is closed without a checkpoint would look like one whose checkpoint is lost.
    if (!this.#hasCheckpoint) return undefined;
    await log.trim();
    return makeEntry(this.stored, state, this.#metadata.createdAt, true);
  }

  get #isCheckpointDue(): boolean {
    const { place } = this.loaded.log;
    const { segment, offset } = this.#metadata.checkpoint;
    return place.segment !== segment || place.offset - offset >= this.stored.limits.checkpointBytes;
  }

  async #rotate(texts: Texts): Promise<void> {
    const { log, state } = this.loaded;
    // Only an instance with a checkpoint may have more than one segment.
    if (!this.#hasCheckpoint) await this.#checkpoint(texts);
    await log.rotate();
    state.seq = log.last;
    // No segment is deleted before a checkpoint includes it.
    await this.#checkpoint(texts);
    await deleteOldSegments(this.stored);
  }

  /** `closedBy`: the epoch of this owner, if it writes no frame after the checkpoint. */
  async #checkpoint(texts: Texts, closedBy = this.closedBy): Promise<void> {
    const { log, state } = this.loaded;
    const { turns } = await this.#readTail();
    const input = { before: this.#metadata, turns, state, texts, place: log.place };
    this.#metadata = await writeCheckpoint(this.stored, { ...input, closedBy });
    this.#hasCheckpoint = true;
  }

  /** Reads the log since the checkpoint again, because its turns are not kept in memory. */
  async #readTail(): Promise<ReadLog> {
    const log = await readLog(this.stored);
    if (!log) throw await corruptStore(this.stored, this.stored.paths.metadata, 'it is missing');
    if (log.damage) throw await corruptLog(this.stored, log.damage);
    return log;
  }
}
