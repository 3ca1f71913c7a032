/** The files of a log, opened on demand and reopened after a failure. */
import { dirname } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import { makeFolders } from '../layout/make-folders.ts';
import type { RotationLimits } from '../limits.ts';
import { RotatingLog } from '../lines/rotating-log.ts';

export class LogFile {
  readonly path: string;
  readonly #fs: Fs;
  readonly #root: string;
  readonly #limits: RotationLimits;
  #log: RotatingLog | undefined;

  constructor(fs: Fs, root: string, path: string, limits: RotationLimits) {
    this.path = path;
    this.#fs = fs;
    this.#root = root;
    this.#limits = limits;
  }

  /** Writes the text. If it rejects, a part of the text may have been written. */
  async write(text: string): Promise<void> {
    try {
      this.#log ??= await this.#open();
      await this.#log.write(Buffer.from(text));
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const log = this.#log;
    this.#log = undefined;
    await log?.close().catch(() => undefined);
  }

  async #open(): Promise<RotatingLog> {
    await makeFolders(this.#fs, this.#root, dirname(this.path));
    const log = await RotatingLog.open(this.#fs, this.path, this.#limits);
    const { size } = log.current;
    const last = size > 0 ? await this.#fs.read(this.path, size - 1, 1) : undefined;
    // A crash or a full disk may have left a partial line; this line break ends it.
    if (last && last[0] !== 0x0a) await log.write(Buffer.from('\n'));
    return log;
  }
}
