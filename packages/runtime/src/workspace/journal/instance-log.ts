/**
 * Writes the log of one instance: numbers its frames, and starts a new segment when the current one is full.
 *
 * A full segment is renamed between turns. The names and bytes of all older segments are durable before a new segment
 * gets its first frame.
 */
import { dirname } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { numbered } from '../lines/rotating-log.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { LogFile } from '../log-file/log-file.ts';
import { encodeFrame, type Frame, type SegmentHead } from '../records/frame.ts';

export interface LogPlace {
  /** The number of the segment, from 1. */
  readonly segment: number;
  readonly offset: number;
}

export class InstanceLog {
  /** Everything up to this number is durable. */
  #durable: number;

  private constructor(
    private readonly stored: StoredInstance,
    private readonly pace: DiskPace,
    private readonly head: SegmentHead,
    private file: LogFile,
    private segment: number,
    /** The number of the last record or commit. */
    private seq: number,
  ) {
    this.#durable = seq;
  }

  /**
   * Creates the first segment, and calls `place` when its `head` and its room are durable, with one sync. `path`: the file,
   * before it is in its place.
   */
  static async create(
    stored: StoredInstance,
    pace: DiskPace,
    head: SegmentHead,
    path: string,
    place: () => Promise<void>,
  ): Promise<InstanceLog> {
    const { fs, limits, clock } = stored;
    const first = encodeFrame({ seq: 1, durable: 0, at: clock.now().getTime(), head });
    await writeDraft(fs, path, first);
    const file = await LogFile.open(fs, path, first.length, { pace, room: limits.logRoom });
    try {
      await place();
      return new InstanceLog(stored, pace, head, file, 1, 1);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * Opens the current segment after its last intact frame, or creates it. Everything before is durable when the promise
   * resolves. `seq`: the number of the last record or commit.
   */
  static async open(
    stored: StoredInstance,
    pace: DiskPace,
    head: SegmentHead,
    at: LogPlace & { readonly durableEnd?: number; readonly seq: number },
  ): Promise<InstanceLog> {
    const { durableEnd = at.offset } = at;
    const file = await LogFile.open(stored.fs, stored.paths.events, at.offset, {
      pace,
      durableEnd,
      room: stored.limits.logRoom,
    });
    const log = new InstanceLog(stored, pace, head, file, at.segment, at.seq);
    try {
      if (at.offset === 0) await log.#begin();
      return log;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get place(): LogPlace {
    return { segment: this.segment, offset: this.file.end };
  }

  /** The number of the last record or commit. */
  get last(): number {
    return this.seq;
  }

  /** True if the current segment has reached its limit. */
  get isFull(): boolean {
    return this.file.end >= this.stored.limits.archive.bytes;
  }

  /** Appends a frame. If `isDurable` is true, all frames so far are durable when the promise resolves. */
  async append(
    frame: Omit<Frame, 'seq' | 'durable' | 'records'>,
    records: readonly string[],
    isDurable: boolean,
  ): Promise<void> {
    const bytes = encodeFrame({ ...frame, seq: this.seq + 1, durable: this.#durable }, records);
    await (isDurable ? this.file.writeDurably(bytes) : this.file.write(bytes));
    this.seq += records.length + (frame.commit ? 1 : 0) + (frame.head ? 1 : 0);
    if (isDurable) this.#durable = this.seq;
  }

  /** Grows the file, so that the next turn does not have to. */
  makeRoom(bytes: number): Promise<void> {
    return this.file.makeRoom(bytes);
  }

  /** Renames the full segment and begins the next one. */
  async rotate(): Promise<void> {
    const { fs, paths, limits } = this.stored;
    await this.file.sync();
    await this.file.trim();
    await this.file.close();
    await fs.rename(paths.events, numbered(paths.events, this.segment));
    // The rename of the full file must be durable before a new file gets the old name.
    await fs.syncFolder(dirname(paths.events));
    this.file = await LogFile.open(fs, paths.events, 0, { pace: this.pace, room: limits.logRoom });
    this.segment += 1;
    await this.#begin();
  }

  /** Removes the room of the current segment except one zero. */
  trim(): Promise<void> {
    return this.file.trim();
  }

  close(): Promise<void> {
    return this.file.close();
  }

  async #begin(): Promise<void> {
    const { fs, paths, clock } = this.stored;
    await this.append({ at: clock.now().getTime(), head: this.head }, [], true);
    // The frames in the new file are durable only together with its directory entry.
    await fs.syncFolder(dirname(paths.events));
  }
}

/** Writes a file that nobody reads yet, in place of one that a killed process left. */
async function writeDraft(fs: Fs, path: string, bytes: Uint8Array): Promise<void> {
  await fs.remove(path);
  const file = await fs.openFile(path);
  try {
    await file.append(bytes);
  } finally {
    await file.close();
  }
}
