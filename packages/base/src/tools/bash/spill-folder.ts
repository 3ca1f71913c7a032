/**
 * Where output goes that is too long for the model: a private folder of this process, outside of every working folder.
 * It holds a bounded number of files and goes with the process; what a killed process left is removed by the next one.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The oldest go first. */
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

  /** It is made when it is first asked for. */
  get path(): string {
    if (this.#path !== undefined) return this.#path;
    removeAbandoned(this.#parent);
    const path = mkdtempSync(join(this.#parent, `${PREFIX}${process.pid}-`));
    process.once('exit', () => rmSync(path, { recursive: true, force: true }));
    this.#path = path;
    return path;
  }

  /** The path of a file that is not there yet. */
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
      // Somebody else's.
    }
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and not ours.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
