/**
 * One file of a log: bytes that are written once, and behind them room, which is filled with zeros.
 *
 * 1. The bytes of `write` survive a kill. The bytes of `writeDurably`, and all bytes before them, survive a power loss.
 * 2. A write that goes through makes only its own range durable. Therefore it starts at the last durable byte, and
 *    writes the bytes since then once more.
 * 3. At least one zero follows the bytes, at any moment and after any crash: bytes are written only into durable room.
 *    So a reader knows that a file without a zero at its end was cut off.
 * 4. The room grows together with a durable write that leaves little of it, so growth costs no sync of its own. Only
 *    bytes that are longer than the rest of the room wait for one.
 * 5. Behind `end` there are only zeros, durably: `open` removes anything else. Otherwise a piece of an old write could
 *    become readable again behind a new one. Before anything is removed, its first byte becomes a zero, durably, so
 *    that a removal that a crash interrupts is still recognized as a torn end.
 * 6. When a write fails, its first byte becomes a zero, and the unsynced bytes before it are written again: after a
 *    failed sync, the system may count pages as stored that are not. Then the owner stops (`FailStop`).
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
  readonly room: RoomLimits;
  /**
   * The offset up to which the bytes themselves prove that they were durable; `end` when absent. The bytes behind it are
   * written again, because after a failed sync the system may show bytes that it never stores.
   */
  readonly durableEnd?: number;
}

/** The room grows when less than a quarter of the file is left, but not while more than this is left. */
const MOST_RESERVE = 32 * 1024;
const ZERO = new Uint8Array(1);

/** More bytes than this are synced in the background, because writing them through would block the thread. */
const MOST_THROUGH = 64 * 1024;

/** A space, which takes the place of the room when the file is closed. */
const CLOSED = Uint8Array.of(0x20);

export class LogFile {
  readonly path: string;
  readonly #file: RoomFile;
  readonly #pace: DiskPace;
  readonly #limits: RoomLimits;
  #end: number;
  #durableEnd: number;
  /** The bytes from `#durableEnd` to `#end`. */
  #unsynced: Uint8Array[] = [];
  /** The size of the file, which survives a power loss. */
  #size: number;

  private constructor(path: string, file: RoomFile, end: number, size: number, { pace, room }: LogFileOptions) {
    this.path = path;
    this.#file = file;
    this.#pace = pace;
    this.#limits = room;
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
      if (rest?.some((byte) => byte !== 0)) await log.#removeRest();
      await log.#storeAgain(fs, options.durableEnd ?? end);
      if (log.#isLow(0)) await log.#extend(0);
      await file.sync();
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
    if (!this.#fits(bytes.length)) await this.makeRoom(bytes.length);
    try {
      const writing = this.#file.write(this.#end, bytes);
      if (writing) await writing;
    } catch (error) {
      await this.#takeBack();
      throw error;
    }
    this.#unsynced.push(bytes);
    this.#end += bytes.length;
  }

  /** Writes bytes at the end. All bytes so far are durable when the promise resolves. */
  async writeDurably(bytes: Uint8Array): Promise<void> {
    if (!this.#fits(bytes.length)) await this.makeRoom(bytes.length);
    try {
      if (this.#isLow(bytes.length)) await this.#writeAndGrow(bytes);
      else if (this.#isShort(bytes.length) && this.#pace.goesThrough()) await this.#writeThrough(bytes);
      else await this.#writeAndSync(bytes);
    } catch (error) {
      await this.#takeBack();
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

  /** Replaces the room by a space, so that a file that is closed then has only text. */
  async trim(): Promise<void> {
    // Without room behind it, a torn end would look like damage.
    await this.sync();
    await this.#file.write(this.#end, CLOSED);
    this.#size = this.#end + CLOSED.length;
    await this.#file.truncate(this.#size);
  }

  /** Makes room for this many bytes and a zero. If the room has to grow, all bytes so far are durable afterwards. */
  async makeRoom(length: number): Promise<void> {
    if (this.#fits(length)) return;
    await this.#extend(length);
    try {
      await this.#file.sync();
    } catch (error) {
      await this.#takeBack();
      throw error;
    }
    this.#allDurable();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #removeRest(): Promise<void> {
    await this.#file.write(this.#end, ZERO);
    await this.#file.sync();
    this.#size = this.#end + ZERO.length;
    await this.#file.truncate(this.#size);
  }

  async #storeAgain(fs: Fs, from: number): Promise<void> {
    const bytes = from < this.#end ? await fs.read(this.path, from, this.#end - from) : undefined;
    if (bytes) await this.#file.write(from, bytes);
  }

  /** Makes the file longer by a step, or by more if these bytes need it. Not durable before a sync. */
  async #extend(length: number): Promise<void> {
    const { first, most } = this.#limits;
    const grown = Math.min(this.#size * 2, this.#size + most);
    const size = Math.ceil(Math.max(grown, this.#end + length + 1) / first) * first;
    await this.#file.extend(size);
    this.#size = size;
  }

  /** Returns true if the room holds these bytes and a zero. */
  #fits(length: number): boolean {
    return this.#end + length < this.#size;
  }

  /** Returns true if little room is left after these bytes. */
  #isLow(length: number): boolean {
    return this.#size - this.#end - length <= Math.min(this.#size / 4, MOST_RESERVE);
  }

  #isShort(length: number): boolean {
    return this.#end + length - this.#durableEnd <= MOST_THROUGH;
  }

  async #writeThrough(bytes: Uint8Array): Promise<void> {
    const all = this.#unsynced.length === 0 ? bytes : Buffer.concat([...this.#unsynced, bytes]);
    const startedAt = this.#pace.start();
    const writing = this.#file.writeThrough(this.#durableEnd, all);
    if (writing) await writing;
    this.#pace.end(startedAt);
  }

  async #writeAndGrow(bytes: Uint8Array): Promise<void> {
    await this.#extend(bytes.length);
    await this.#writeAndSync(bytes);
  }

  async #writeAndSync(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#file.write(this.#end, bytes);
    await this.#file.sync();
  }

  #allDurable(): void {
    this.#durableEnd = this.#end;
    this.#unsynced = [];
  }

  /** Ends the log before the bytes that could not be written. A disk that rejects even this changes nothing. */
  async #takeBack(): Promise<void> {
    const bytes = Buffer.concat([...this.#unsynced, ZERO]);
    try {
      await this.#file.write(this.#durableEnd, bytes);
    } catch {
      // The caller throws the error of the write itself.
    }
  }
}
