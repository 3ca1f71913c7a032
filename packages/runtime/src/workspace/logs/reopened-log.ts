/** The files of a log, opened on demand and reopened after a failure. */
import { dirname } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import { makeFoldersBelow } from '../layout/make-folders.ts';
import type { RotationLimits } from '../limits.ts';
import { RotatingLog } from '../lines/rotating-log.ts';

/** Never makes `root` itself, which may have been taken away. */
export class ReopenedLog {
  #log: RotatingLog | undefined;

  constructor(
    private readonly fs: Fs,
    private readonly root: string,
    readonly path: string,
    private readonly limits: RotationLimits,
  ) {}

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
    await makeFoldersBelow(this.fs, this.root, dirname(this.path));
    const log = await RotatingLog.open(this.fs, this.path, this.limits);
    await log.current.endLine(this.fs);
    return log;
  }
}
