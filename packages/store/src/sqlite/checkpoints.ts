/** Brings the pages of the WAL into the database in time: the bulk in the side thread, the few that come meanwhile here. */
import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import type { GroupCommit } from './group-commit.ts';
import type { SideThread } from './side-work.ts';
import { isFailedSync } from './sqlite-error.ts';

export interface CheckpointOptions {
  readonly report: (problem: string) => void;
  /** How many pages of the WAL are copied into the database at once. */
  readonly pages?: number;
  /** How many transactions pass before the WAL is looked at. */
  readonly everyCommits?: number;
}

const PAGES = 1000;
const EVERY_COMMITS = 32;
const MOST_WAL_BYTES = 256 * 1024 * 1024;

export class Checkpoints {
  #isRunning = false;
  #isLarge = false;
  /** The last problem that was reported. */
  #problem = '';
  readonly #files: string;

  constructor(
    private readonly database: Database,
    private readonly side: SideThread,
    /** Told of a sync that failed, and of files that are gone. */
    private readonly commits: Pick<GroupCommit, 'fail' | 'hasFailed'>,
    private readonly options: CheckpointOptions,
  ) {
    this.#files = this.#identify();
  }

  /** Called after each transaction. Never throws. */
  look(count: number): void {
    if (count % (this.options.everyCommits ?? EVERY_COMMITS) !== 0) return;
    if (this.#identify() !== this.#files) return this.commits.fail(this.#replaced());
    try {
      const pages = this.#countPages();
      this.#warn(pages * this.#pageBytes());
      if (!this.#isRunning && pages >= (this.options.pages ?? PAGES)) void this.#copy();
    } catch (error) {
      this.#note(error);
    }
  }

  async #copy(): Promise<void> {
    this.#isRunning = true;
    // Without the side thread, everything is copied here: the WAL must not grow without end.
    const problem: unknown = await this.side.ask({ kind: 'checkpoint' }).then(
      () => undefined,
      (error: unknown) => error,
    );
    try {
      if (isFailedSync(problem)) throw problem;
      if (!this.commits.hasFailed) this.database.query('pragma wal_checkpoint(passive)').get();
      if (problem === undefined) this.#problem = '';
      else this.#note(problem);
    } catch (error) {
      if (isFailedSync(error)) this.commits.fail(error);
      else this.#note(error);
    }
    this.#isRunning = false;
  }

  /** The pages in the WAL. */
  #countPages(): number {
    return this.database.query<{ log: number }, []>('pragma wal_checkpoint(noop)').get()?.log ?? 0;
  }

  #pageBytes(): number {
    return this.database.query<{ page_size: number }, []>('pragma page_size').get()?.page_size ?? 0;
  }

  #warn(bytes: number): void {
    const isLarge = bytes > MOST_WAL_BYTES;
    if (isLarge && !this.#isLarge) {
      const megabytes = Math.round(bytes / 1024 / 1024);
      this.options.report(
        `${this.database.filename}-wal has ${megabytes} MB and grows: a program reads the database for very long, or a copy ` +
          'of it is made. End programs such as a sqlite3 shell with an open transaction.',
      );
    }
    this.#isLarge = isLarge;
  }

  /** Reports a problem once, until a checkpoint succeeds. */
  #note(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (problem !== this.#problem) this.options.report(problem);
    this.#problem = problem;
  }

  /** Which files have the names of the database and of its WAL. Looking at a file opens nothing. */
  #identify(): string {
    const path = this.database.filename;
    try {
      return [path, `${path}-wal`]
        .map((each) => statSync(each))
        .map(({ dev, ino }) => `${dev}:${ino}`)
        .join(' ');
    } catch {
      return 'gone';
    }
  }

  #replaced(): GoondanError {
    const message = `${this.database.filename} or its log was removed or replaced while it was in use.`;
    const suggestion = 'Start again. If the folder was restored from a copy, stop the swarm before you do that.';
    return new GoondanError('E_STORE_WRITE', message, { suggestion });
  }
}
