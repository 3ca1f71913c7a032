/**
 * Looks after an open database, every hour and soon after a start: reads all of it for damage, and keeps two copies of it,
 * the last and the one before.
 */
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Workspace } from './open-workspace.ts';
import { freeBytesOf, syncPath } from './synced-files.ts';

export interface UpkeepOptions {
  readonly report: (problem: string) => void;
  readonly everyMs?: number;
  /** The free bytes of the disk; as the system says when absent. */
  readonly freeBytes?: (folder: string) => number;
}

const HOUR_MS = 60 * 60 * 1000;
/** The part of an hour after which a start is looked after. */
const SOON = 1 / 60;
/** A copy of a larger database takes too long, and too much of the disk. */
const MOST_BYTES = 2 * 1024 ** 3;
/** How many times the size of the database must be free. */
const ROOM = 3;

/** The names of the copies beside the database. */
export const snapshotsOf = (path: string) => ({ last: `${path}.snapshot`, before: `${path}.snapshot-before` });

export class Upkeep {
  readonly #timers: readonly ReturnType<typeof setTimeout>[];
  readonly #everyMs: number;
  /** The number of the last transaction in the last copy; absent while nobody knows. */
  #copied: number | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(
    private readonly workspace: Workspace,
    private readonly options: UpkeepOptions,
  ) {
    this.#everyMs = options.everyMs ?? HOUR_MS;
    const run = () => void this.run();
    this.#timers = [setTimeout(run, workspace.wasLeft ? 0 : SOON * this.#everyMs), setInterval(run, this.#everyMs)];
    for (const timer of this.#timers) timer.unref();
  }

  /** Checks the database, and copies it if it changed. Reports what it cannot do; never rejects. */
  run(): Promise<void> {
    const { report } = this.options;
    this.#work = this.#work
      // A damaged database replaces no copy of a whole one.
      .then(async () => ((await this.#check()) ? this.#copyIfChanged() : undefined))
      .catch((error: unknown) => report(error instanceof Error ? error.message : String(error)));
    return this.#work;
  }

  /** Ends after the work that has begun. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#work;
  }

  async #check(): Promise<boolean> {
    const problems = await this.workspace.side.ask({ kind: 'check' });
    for (const problem of problems) this.options.report(`${this.#path} is damaged: ${problem}`);
    return problems.length === 0;
  }

  async #copyIfChanged(): Promise<void> {
    const { count } = this.workspace.commits;
    const { last } = snapshotsOf(this.#path);
    const age = Date.now() - (statSync(last, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    const isOld = age < 0 || age >= this.#everyMs;
    const isNeeded = this.#copied === undefined ? isOld : count !== this.#copied;
    if (isNeeded && this.#hasRoom()) {
      await this.#copy();
      this.#copied = count;
    }
  }

  #hasRoom(): boolean {
    const { report, freeBytes = freeBytesOf } = this.options;
    const pages = 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size';
    const { bytes = 0 } = this.workspace.database.query<{ bytes: number }, []>(pages).get() ?? {};
    const free = freeBytes(dirname(this.#path));
    if (bytes > MOST_BYTES) report(`${this.#path} has more than 2 GB, so no copy of it is kept.`);
    else if (free < ROOM * bytes)
      report(`The disk has too little room for a copy of ${this.#path}: ${free} bytes are free.`);
    return bytes <= MOST_BYTES && free >= ROOM * bytes;
  }

  async #copy(): Promise<void> {
    const { last, before } = snapshotsOf(this.#path);
    const unfinished = `${last}-unfinished`;
    const removeUnfinished = () => {
      for (const name of [unfinished, `${unfinished}-journal`]) rmSync(name, { force: true });
    };
    removeUnfinished();
    try {
      // SQLite fills an empty file, and syncs it.
      writeFileSync(unfinished, '', { mode: 0o600 });
      await this.workspace.side.ask({ kind: 'snapshot', path: unfinished });
      if (existsSync(last)) renameSync(last, before);
      renameSync(unfinished, last);
      syncPath(dirname(last));
    } finally {
      removeUnfinished();
    }
  }

  get #path(): string {
    return this.workspace.database.filename;
  }
}
