/**
 * A log that several processes append to, in numbered files of bounded size.
 *
 * 1. Each append is one write at the end of the file, wherever that is by then. So the lines of two processes never mix,
 *    and nobody waits for a lock.
 * 2. A full file stays as it is, and the next number follows. A process may still append to a full file for a short
 *    time, because it looks at the size only now and then.
 * 3. The oldest files are deleted, so that at most `files` remain.
 * 4. Nothing is synced: a power loss may lose the last lines.
 */
import type { Clock } from '../../ports/clock.ts';
import type { Fs, OpenFile } from '../../ports/fs.ts';
import type { RotationLimits } from '../limits.ts';

export interface SharedLogDeps {
  readonly fs: Fs;
  readonly clock: Pick<Clock, 'elapsed'>;
  /** The folder, which must exist. */
  readonly folder: string;
  /** The names of the files are `<stem>.<number>.jsonl`. */
  readonly stem: string;
  readonly limits: RotationLimits;
  /** Called by the process that began a file, with the numbers of the full files. A failure is ignored. */
  readonly onFull?: (numbers: readonly number[]) => Promise<void>;
  /** Called with the number of a file that was deleted. A failure is ignored. */
  readonly onDeleted?: (number: number) => Promise<void>;
}

interface Part {
  readonly path: string;
  readonly file: OpenFile;
  readonly identity: string | undefined;
  /** The time of the last look at the size, and the bytes that this process has written since. */
  checkedAt: number;
  unchecked: number;
}

const CHECK_MS = 1_000;
/** The size is looked at after this share of a file. */
const CHECK_SHARE = 32;

export class SharedLog {
  #part: Part | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly deps: SharedLogDeps) {}

  /** Appends whole lines. After a rejection, it is unknown how much was written. */
  append(bytes: Uint8Array): Promise<void> {
    const appended = this.#last.then(() => this.#write(bytes));
    this.#last = appended.catch(() => this.#closePart());
    return appended;
  }

  /** Closes the file. A later append opens it again. */
  close(): Promise<void> {
    this.#last = this.#last.then(() => this.#closePart());
    return this.#last;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const part = (await this.#partWithRoom()) ?? (await this.#open());
    part.unchecked += bytes.length;
    await part.file.append(bytes);
  }

  async #partWithRoom(): Promise<Part | undefined> {
    const { fs, clock, limits } = this.deps;
    const part = this.#part;
    if (part === undefined) return undefined;
    const now = clock.elapsed();
    if (now - part.checkedAt < CHECK_MS && part.unchecked < limits.bytes / CHECK_SHARE) return part;
    const stat = await fs.stat(part.path);
    if (stat !== undefined && stat.identity === part.identity && stat.size < limits.bytes) {
      part.checkedAt = now;
      part.unchecked = 0;
      return part;
    }
    await this.#closePart();
    return undefined;
  }

  async #open(): Promise<Part> {
    const { fs, clock, folder, stem, limits } = this.deps;
    const numbers = await listNumbers(fs, folder, stem);
    let number = numbers.at(-1) ?? 1;
    const size = (await fs.stat(numberedPath(folder, stem, number)))?.size ?? 0;
    if (size >= limits.bytes) {
      number += 1;
      const isFirst = await fs.createNew(numberedPath(folder, stem, number), new Uint8Array());
      if (isFirst) await this.#tidy(numbers);
    }
    const path = numberedPath(folder, stem, number);
    const file = await fs.openFile(path);
    const identity = (await fs.stat(path))?.identity;
    this.#part = { path, file, identity, checkedAt: clock.elapsed(), unchecked: 0 };
    return this.#part;
  }

  async #tidy(full: readonly number[]): Promise<void> {
    const { fs, folder, stem, limits, onFull, onDeleted } = this.deps;
    const tooMany = Math.max(0, full.length + 1 - limits.files);
    for (const number of full.slice(0, tooMany)) {
      try {
        await fs.remove(numberedPath(folder, stem, number));
        await onDeleted?.(number);
      } catch {
        // The next rotation tries again. The lines of the caller must not be lost because of it.
      }
    }
    await onFull?.(full.slice(tooMany)).catch(() => undefined);
  }

  async #closePart(): Promise<void> {
    const part = this.#part;
    this.#part = undefined;
    await part?.file.close().catch(() => undefined);
  }
}

export function numberedPath(folder: string, stem: string, number: number): string {
  return `${folder}/${stem}.${String(number).padStart(6, '0')}.jsonl`;
}

/** Lists the numbers of the files, the smallest first. */
export async function listNumbers(fs: Fs, folder: string, stem: string): Promise<number[]> {
  const pattern = /^\.(\d{6,})\.jsonl$/;
  const numbers = ((await fs.list(folder)) ?? []).flatMap((name) => {
    const [, digits] = name.startsWith(stem) ? (pattern.exec(name.slice(stem.length)) ?? []) : [];
    return digits === undefined ? [] : Number(digits);
  });
  return numbers.toSorted((one, other) => one - other);
}
