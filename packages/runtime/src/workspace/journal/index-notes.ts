/**
 * Writes the index of instances: gathers the instances that changed, and appends their lines together after a delay.
 * Several processes append to the file. Errors are ignored, because the index is derived.
 */
import type { Clock } from '../../ports/clock.ts';
import type { FileStat, Fs } from '../../ports/fs.ts';
import type { StoreLimits } from '../limits.ts';
import {
  decodeEntry,
  encodeCompactedBytes,
  encodeEntry,
  type IndexEntry,
  readCompactedBytes,
  readIndexLines,
} from '../records/instance-index.ts';
import { instanceFolderName, nextOf } from '../layout/instance-paths.ts';

/** Returns the entry of an instance; `busy` while it may change at any moment, `undefined` when there is nothing to say. */
export type EntrySource = () => Promise<IndexEntry | 'busy' | undefined>;

const DELAY_MS = 500;
const LONGEST_HEAD = 100;

export interface IndexPlace {
  readonly fs: Fs;
  readonly clock: Clock;
  /** The file. */
  readonly path: string;
  /** The folder of all instances. */
  readonly instances: string;
  readonly limits: Pick<StoreLimits, 'indexBytes'>;
}

export class IndexNotes {
  /** The instances that changed, by the names of their folders. At most one for each instance that was open lately. */
  readonly #notes = new Map<string, EntrySource>();
  #callOff: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(private readonly place: IndexPlace) {}

  /** Notes that an instance has changed. `source` is asked later. */
  add(name: string, source: EntrySource): void {
    this.#notes.set(name, source);
    this.#callOff ??= this.place.clock.after(DELAY_MS, () => {
      this.#callOff = undefined;
      void this.flush();
    });
  }

  /** Writes the lines of all instances that are not busy. Never rejects. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write()).catch(() => undefined);
    return this.#writing;
  }

  /** Writes what can be written, and stops the timer. */
  async close(): Promise<void> {
    await this.flush();
    this.#callOff?.();
    this.#callOff = undefined;
    this.#notes.clear();
  }

  async #write(): Promise<void> {
    const noted = [...this.#notes];
    this.#notes.clear();
    const lines: string[] = [];
    for (const [name, source] of noted) {
      const entry = await source().catch(() => undefined);
      if (entry === 'busy') {
        if (!this.#notes.has(name)) this.add(name, source);
      } else if (entry) lines.push(encodeEntry(entry));
    }
    if (lines.length === 0) return;
    const { fs, path } = this.place;
    const bytes = Buffer.from(lines.join(''));
    const before = await fs.stat(path);
    await this.#append(path, bytes);
    // The lines may be in a file that another process has just replaced with its compacted copy.
    if (before && (await fs.stat(path))?.identity !== before.identity) await this.#append(path, bytes);
    const stat = await fs.stat(path);
    if (stat && (await this.#isGrown(stat))) await this.#compact(stat);
  }

  async #append(path: string, bytes: Uint8Array): Promise<void> {
    const file = await this.place.fs.openFile(path);
    try {
      await file.append(bytes);
    } finally {
      await file.close();
    }
  }

  /** Returns true if the file is long, and twice as long as when it was compacted last. */
  async #isGrown({ size }: FileStat): Promise<boolean> {
    const { fs, path, limits } = this.place;
    if (size < limits.indexBytes) return false;
    const start = new TextDecoder().decode(await fs.read(path, 0, LONGEST_HEAD));
    return size >= 2 * readCompactedBytes(start.split('\n')[0] ?? '');
  }

  /**
   * Keeps the newest line of each instance that exists. Lines that other processes append meanwhile are taken along, until
   * just before the rename. If another process compacts the file first, this process gives up.
   */
  async #compact({ identity }: FileStat): Promise<void> {
    const { fs, path, instances } = this.place;
    const existing = new Set(await fs.list(instances));
    const newest = new Map<string, string>();
    const { lines, end } = await readIndexLines(fs, path);
    for (const line of lines) {
      const entry = decodeEntry(line);
      const name = entry && instanceFolderName(entry.agentName, entry.instanceKey);
      if (name !== undefined && existing.has(name)) newest.set(name, line);
    }
    const kept = [...newest.values()].map((line) => `${line}\n`).join('');
    const draft = nextOf(path);
    // A killed process may have left its draft. If another process writes one now, it compacts the file.
    await fs.remove(draft);
    try {
      if (!(await fs.createNew(draft, Buffer.from(encodeCompactedBytes(Buffer.byteLength(kept)) + kept)))) return;
      const added = await fs.read(path, end);
      if (added && added.length > 0) await this.#append(draft, added);
      if ((await fs.stat(path))?.identity === identity) return await fs.rename(draft, path);
    } catch (error) {
      await fs.remove(draft);
      throw error;
    }
    await fs.remove(draft);
  }
}
