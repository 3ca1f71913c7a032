/** An append-only file of bounded size: a full file is renamed to `<name>.<number>.jsonl` and a new one is started. */
import { basename, dirname, join } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import type { RotationLimits } from '../limits.ts';
import { AppendLog } from './append-log.ts';

/** Called before an old file is deleted. If it returns false, this file and all newer ones are kept. */
export type LetGo = (path: string) => Promise<boolean>;

export class RotatingLog {
  readonly #fs: Fs;
  readonly #limits: RotationLimits;
  readonly #letGo: LetGo;
  #log: AppendLog;

  private constructor(fs: Fs, limits: RotationLimits, letGo: LetGo, log: AppendLog) {
    this.#fs = fs;
    this.#limits = limits;
    this.#letGo = letGo;
    this.#log = log;
  }

  static async open(
    fs: Fs,
    path: string,
    limits: RotationLimits,
    letGo: LetGo = async () => true,
  ): Promise<RotatingLog> {
    return new RotatingLog(fs, limits, letGo, await AppendLog.open(fs, path));
  }

  /** The file with the newest lines. */
  get current(): AppendLog {
    return this.#log;
  }

  /** Writes bytes; not durable before `sync`. Earlier writes must be synced before. One write never spans two files. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#log.size >= this.#limits.bytes) await this.#rotate();
    await this.#log.write(bytes);
  }

  sync(): Promise<void> {
    return this.#log.sync();
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  async #rotate(): Promise<void> {
    const { path } = this.#log;
    const folder = dirname(path);
    const older = await rotatedFiles(this.#fs, path);
    await this.#log.close();
    await this.#fs.rename(path, numbered(path, numberOf(path, older.at(-1)) + 1));
    // The rename of the full file must be durable before a new file gets the old name.
    await this.#fs.syncFolder(folder);
    this.#log = await AppendLog.open(this.#fs, path);
    // Bytes in the new file are durable only together with its directory entry.
    await this.#fs.syncFolder(folder);
    const tooMany = Math.max(0, older.length + 1 - this.#limits.files);
    for (const old of older.slice(0, tooMany)) {
      if (!(await this.#letGo(old))) return;
      await this.#fs.remove(old);
      // Syncs after each deletion, so that a power loss cannot bring back an older file while a newer one stays
      // deleted.
      if (tooMany > 1) await this.#fs.syncFolder(folder);
    }
  }
}

/** Lists the rotated files, oldest first. */
export async function rotatedFiles(fs: Fs, path: string): Promise<string[]> {
  const folder = dirname(path);
  const paths = ((await fs.list(folder)) ?? []).map((name) => join(folder, name));
  return paths.filter((each) => numberOf(path, each) > 0).toSorted((a, b) => numberOf(path, a) - numberOf(path, b));
}

function numbered(path: string, number: number): string {
  return path.replace(/\.jsonl$/, `.${String(number).padStart(6, '0')}.jsonl`);
}

/** Returns the number of the rotated file `other`, or 0 when `other` is not a rotated file of `path`. */
function numberOf(path: string, other: string | undefined): number {
  if (other === undefined) return 0;
  const stem = `${basename(path, '.jsonl')}.`;
  const name = basename(other, '.jsonl');
  return name.startsWith(stem) && /^\d+$/.test(name.slice(stem.length)) ? Number(name.slice(stem.length)) : 0;
}
