/**
 * One file of a log: bytes that are written once, and behind them room, which is filled with zeros.
 *
 * 1. The bytes of `write` survive a kill. The bytes of `writeDurably`, and all bytes before them, survive a power loss.
 * 2. A write that goes through makes only its own range durable. Therefore it starts at the last durable byte, and
 *    writes the bytes since then once more.
 * 3. New room is durable before anything is written into it, and at least one zero follows the last byte. So a reader
 *    knows that a file without room at its end was cut off. `makeRoom` grows the file between turns, off their path.
 * 4. Behind `end` there are only zeros, durably: `open` removes anything else. Otherwise a piece of an old write could
 *    become readable again behind a new one.
 * 5. When a durable write fails, its bytes are overwritten with zeros, and the unsynced bytes before it are written
 *    again: after a failed sync, the system may count pages as stored that are not. Then the owner stops (`FailStop`).
 *
 * The owner waits for each call before the next one. The room stays when the file is closed: a former owner that does
 * not know of its successor would cut off the bytes of the successor.
 */
import type { Fs, RoomFile } from '../../ports/fs.ts';
import type { DiskPace } from './disk-pace.ts';

export interface RoomLimits {
  /** The size of the first room in bytes, and the unit of later sizes. */
  readonly first: number;
  /** The most bytes that are added at a time. Up to there, the size is doubled. */
  readonly most: number;
}

export interface LogFileOptions {
  readonly pace: DiskPace;
  readonly room?: RoomLimits;
  /**
   * The offset up to which the bytes themselves prove that they were durable; `end` when absent. The bytes behind it are
   * written again, because after a failed sync the system may show bytes that it never stores.
   */
  readonly durableEnd?: number;
}

export const defaultRoom: RoomLimits = { first: 8 * 1024, most: 256 * 1024 };

/** More bytes than this are synced in the background, because writing them through would block the thread. */
const MOST_THROUGH = 64 * 1024;

export class LogFile {
  readonly path: string;
  readonly #file: RoomFile;
  readonly #pace: DiskPace;
  readonly #limits: RoomLimits;
  #end: number;
  #durableEnd: number;
  /** The bytes from `#durableEnd` to `#end`. */
  #unsynced: Uint8Array[] = [];
  #size: number;

  private constructor(path: string, file: RoomFile, end: number, size: number, { pace, room }: LogFileOptions) {
    this.path = path;
    this.#file = file;
    this.#pace = pace;
    this.#limits = room ?? defaultRoom;
    this.#end = end;
    this.#durableEnd = end;
    this.#size = size;
  }

  /**
   * Opens the file, and creates it if it does not exist. The caller syncs the name. `end`: the offset after the last
   * intact byte; everything behind it is removed. All bytes before it are durable when the promise resolves, even those
   * that a killed process had not synced.
   */
  static async open(fs: Fs, path: string, end: number, options: LogFileOptions): Promise<LogFile> {
    const file = await fs.openRoom(path);
    try {
      const size = (await fs.stat(path))?.size ?? 0;
      if (size < end) throw new Error(`${path} has ${size} bytes, and its last byte is said to be before ${end}`);
      const log = new LogFile(path, file, end, size, options);
      const rest = size > end ? await fs.read(path, end) : undefined;
      if (rest?.some((byte) => byte !== 0)) await log.cut(end);
      await log.#storeAgain(fs, options.durableEnd ?? end);
      if (size > 0) await file.sync();
      return log;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The offset of the next byte. */
  get end(): number {
    return this.#end;
  }

  /** The offset up to which all bytes are durable. */
  get durableEnd(): number {
    return this.#durableEnd;
  }

  /** Writes bytes at the end. They survive a kill when the promise resolves. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.makeRoom(bytes.length);
    try {
      await this.#file.write(this.#end, bytes);
    } catch (error) {
      await this.#takeBack(bytes.length);
      throw error;
    }
    this.#unsynced.push(bytes);
    this.#end += bytes.length;
  }

  /** Writes bytes at the end. All bytes so far are durable when the promise resolves. */
  async writeDurably(bytes: Uint8Array): Promise<void> {
    await this.makeRoom(bytes.length);
    try {
      if (this.#fitsThrough(bytes.length) && this.#pace.goesThrough()) await this.#writeThrough(bytes);
      else await this.#writeAndSync(bytes);
    } catch (error) {
      await this.#takeBack(bytes.length);
      throw error;
    }
    this.#end += bytes.length;
    this.#allDurable();
  }

  /** Makes all bytes so far durable. */
  async sync(): Promise<void> {
    if (this.#durableEnd === this.#end) return;
    await this.writeDurably(new Uint8Array());
  }

  /** Removes all bytes behind `end`. The rest is durable when the promise resolves. */
  async cut(end: number): Promise<void> {
    // The file never lacks a zero behind its last byte, even if the process is killed here.
    await this.#file.write(end, Uint8Array.of(0));
    this.#end = end;
    await this.trim();
    await this.#file.sync();
    this.#allDurable();
  }

  /** Removes the room except one zero. */
  async trim(): Promise<void> {
    await this.#file.truncate(this.#end + 1);
    this.#size = this.#end + 1;
  }

  /** Makes room for this many bytes. All bytes so far and the room are durable when the promise resolves. */
  async makeRoom(length: number): Promise<void> {
    const needed = this.#end + length + 1;
    if (needed <= this.#size) return;
    const { first, most } = this.#limits;
    const grown = Math.min(this.#size * 2, this.#size + most);
    const size = Math.ceil(Math.max(grown, needed) / first) * first;
    await this.#file.extend(size);
    await this.#file.sync();
    this.#size = size;
    this.#allDurable();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #storeAgain(fs: Fs, from: number): Promise<void> {
    const bytes = from < this.#end ? await fs.read(this.path, from, this.#end - from) : undefined;
    if (bytes) await this.#file.write(from, bytes);
  }

  #fitsThrough(length: number): boolean {
    return this.#end + length - this.#durableEnd <= MOST_THROUGH;
  }

  async #writeThrough(bytes: Uint8Array): Promise<void> {
    const all = this.#unsynced.length === 0 ? bytes : Buffer.concat([...this.#unsynced, bytes]);
    await this.#pace.measure(() => this.#file.writeThrough(this.#durableEnd, all));
  }

  async #writeAndSync(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#file.write(this.#end, bytes);
    await this.#file.sync();
  }

  #allDurable(): void {
    this.#durableEnd = this.#end;
    this.#unsynced = [];
  }

  /** Overwrites the last bytes, which could not be written, with zeros. A disk that rejects even this changes nothing. */
  async #takeBack(length: number): Promise<void> {
    const bytes = Buffer.concat([...this.#unsynced, new Uint8Array(length)]);
    await this.#file.write(this.#durableEnd, bytes).catch(() => undefined);
  }
}
