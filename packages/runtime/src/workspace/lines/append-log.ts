/**
 * An append-only file. The bytes of a failed append are cut off at once if possible, because after a failed sync the
 * system may show bytes that never reach the disk. In any case, the owner stops using the log (`FailStop`).
 */
import type { Fs, OpenFile } from '../../ports/fs.ts';

export class AppendLog {
  readonly path: string;
  readonly #file: OpenFile;
  #size: number;

  private constructor(path: string, file: OpenFile, size: number) {
    this.path = path;
    this.#file = file;
    this.#size = size;
  }

  static async open(fs: Fs, path: string): Promise<AppendLog> {
    const file = await fs.openFile(path);
    const stat = await fs.stat(path);
    return new AppendLog(path, file, stat?.size ?? 0);
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Appends bytes. If the promise resolves, the bytes are durable. If it rejects, the bytes were removed, unless the
   * disk rejects even the removal.
   */
  async append(bytes: Uint8Array): Promise<void> {
    const before = this.#size;
    try {
      await this.write(bytes);
      await this.sync();
    } catch (error) {
      await this.#file.truncate(before).catch(() => undefined);
      throw error;
    }
  }

  /** Writes bytes at the end of the file. They are not durable before `sync`. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#file.append(bytes);
    this.#size += bytes.length;
  }

  /** Cuts the file to this size. The cut is not durable before `sync`. */
  async truncate(size: number): Promise<void> {
    await this.#file.truncate(size);
    this.#size = size;
  }

  /** Ends a partial line that a crash or a full disk left, so that the next line starts on a new line. */
  async endLine(fs: Fs): Promise<void> {
    const last = this.#size > 0 ? await fs.read(this.path, this.#size - 1, 1) : undefined;
    if (last && last[0] !== 0x0a) await this.write(Buffer.from('\n'));
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
