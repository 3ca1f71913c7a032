/** An append-only file of bounded size: a full file is renamed to `<name>.<number>.jsonl` and a new one is started. */
import { basename, dirname, join } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import type { RotationLimits } from '../limits.ts';
import { AppendLog } from './append-log.ts';

export class RotatingLog {
  private constructor(
    private readonly fs: Fs,
    private readonly limits: RotationLimits,
    private readonly letGo: (path: string) => Promise<boolean>,
    /** The file with the newest lines. */
    public current: AppendLog,
  ) {}

  /**
   * `letGo` is called before an old file is deleted. If `letGo` returns false, this file and all newer ones are kept.
   */
  static async open(fs: Fs, path: string, limits: RotationLimits, letGo: RotatingLog['letGo'] = async () => true) {
    return new RotatingLog(fs, limits, letGo, await AppendLog.open(fs, path));
  }

  /**
   * Writes bytes, which are not durable before `sync`. Earlier writes must have been synced. One write never spans two
   * files.
   */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.current.size >= this.limits.bytes) await this.#rotate();
    await this.current.write(bytes);
  }

  sync(): Promise<void> {
    return this.current.sync();
  }

  close(): Promise<void> {
    return this.current.close();
  }

  async #rotate(): Promise<void> {
    const { path } = this.current;
    const folder = dirname(path);
    const older = await rotatedFiles(this.fs, path);
    await this.current.close();
    await this.fs.rename(path, numbered(path, numberOf(path, older.at(-1)) + 1));
    // The rename of the full file must be durable before a new file gets the old name.
    await this.fs.syncFolder(folder);
    this.current = await AppendLog.open(this.fs, path);
    // Bytes in the new file are durable only together with its directory entry.
    await this.fs.syncFolder(folder);
    const tooMany = Math.max(0, older.length + 1 - this.limits.files);
    for (const old of older.slice(0, tooMany)) {
      if (!(await this.letGo(old))) return;
      await this.fs.remove(old);
      // Syncs after each deletion, so that a power loss cannot bring back an older file while a newer one stays
      // deleted.
      if (tooMany > 1) await this.fs.syncFolder(folder);
    }
  }
}

/** Lists the rotated files, oldest first. */
export async function rotatedFiles(fs: Fs, path: string): Promise<string[]> {
  const folder = dirname(path);
  const paths = ((await fs.list(folder)) ?? []).map((name) => join(folder, name));
  return paths.filter((each) => numberOf(path, each) > 0).toSorted((a, b) => numberOf(path, a) - numberOf(path, b));
}

export function numbered(path: string, number: number): string {
  return path.replace(/\.jsonl$/, `.${String(number).padStart(6, '0')}.jsonl`);
}

/** Returns the number of the rotated file `other`, or 0 when `other` is not a rotated file of `path`. */
export function numberOf(path: string, other: string | undefined): number {
  if (other === undefined) return 0;
  const stem = `${basename(path, '.jsonl')}.`;
  const name = basename(other, '.jsonl');
  return name.startsWith(stem) && /^\d+$/.test(name.slice(stem.length)) ? Number(name.slice(stem.length)) : 0;
}
