/**
 * A private folder of this process for output that is too long for the model, outside of every working folder. It holds
 * a limited number of files and is removed when the process exits. If a process was killed, the next process removes
 * its folder.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The maximum number of files; the oldest are removed first. */
const MOST_FILES = 20;
const PREFIX = 'goondan-bash-';

export class SpillFolder {
  readonly #parent: string;
  readonly #files: string[] = [];
  #path: string | undefined;
  #count = 0;

  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  /** The path of the folder, which is made on first use. */
  get path(): string {
    if (this.#path !== undefined) return this.#path;
    removeAbandoned(this.#parent);
    const path = mkdtempSync(join(this.#parent, `${PREFIX}${process.pid}-`));
    process.once('exit', () => rmSync(path, { recursive: true, force: true }));
    this.#path = path;
    return path;
  }

  /** Returns the path of a new file. */
  newFile(stream: string): string {
    const file = join(this.path, `${(this.#count += 1)}-${stream}.txt`);
    this.#files.push(file);
    const oldest = this.#files.length > MOST_FILES ? this.#files.shift() : undefined;
    if (oldest !== undefined) rmSync(oldest, { force: true });
    return file;
  }
}

function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^goondan-bash-(\d+)-/.exec(name)?.[1] ?? 0);
    if (pid === 0 || isThere(pid)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // The folder belongs to another user.
    }
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
