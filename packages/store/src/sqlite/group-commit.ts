/**
 * The only writer of a database. Changes that come in together are one transaction and share one sync.
 *
 * Invariants:
 * 1. A durable change is confirmed after a sync of the WAL that began after its commit.
 * 2. Changes are made in the order of `write`. One that fails leaves nothing, and all others are made.
 * 3. After a sync that failed, nobody knows what is on the disk. Nothing is confirmed any more, and the owner must end its
 *    process and read the database again. A sync is never repeated.
 * 4. The thread never waits for another program, and for a sync of ours only while syncs are short.
 */
import type { Database, Statement } from 'bun:sqlite';
import { GoondanError } from '@goondan/types';
import { isBusy, isFailedSync, storeError } from './sqlite-error.ts';
import type { SyncedLog } from './synced-files.ts';

export interface GroupCommitOptions {
  /** Absent when SQLite syncs each commit itself. */
  readonly log?: SyncedLog;
  /** Called after every transaction, with its number, unless a sync has failed. Must not throw. */
  readonly onCommit?: (count: number) => void;
  /** Called when changes were taken back: what was remembered of their rows is wrong. Must not throw. */
  readonly onRollback?: () => void;
  /** Called once, after a sync that failed (invariant 3). Must not throw. */
  readonly onFailure?: (error: GoondanError) => void;
  /** The time that a foreign program may hold the database. */
  readonly foreignMs?: number;
}

interface Change {
  /** Makes the change. Returns the function that settles its promise with the result. */
  readonly make: () => () => void;
  readonly isDurable: boolean;
  readonly reject: (error: GoondanError) => void;
}

interface CommittedChange {
  readonly change: Change;
  /** Settles the promise of the change. */
  readonly confirm: () => void;
}

export const FOREIGN_MS = 30_000;
const AGAIN_MS = 5;
/** The most changes whose promises are open. */
const MOST_OPEN = 20_000;
/** Up to these, going to another thread costs more than the sync itself. */
const MOST_CHANGES_HERE = 2;
const SHORT_SYNC_MS = 0.6;

export class GroupCommit {
  readonly #statements: Readonly<Record<'begin' | 'commit' | 'mark' | 'keep' | 'undo', Statement>>;
  #waiting: Change[] = [];
  #isPlanned = false;
  #isCommitting = false;
  /** How many of the waiting changes get a transaction of their own, because theirs was ended by one of them. */
  #apart = 0;
  #count = 0;
  /** Committed, and no sync has begun since. */
  #unsynced: CommittedChange[] = [];
  /** Committed, and a sync is under way for them. */
  #syncing: readonly CommittedChange[] = [];
  #failure: GoondanError | undefined;
  #busySince: number | undefined;
  #closing: PromiseWithResolvers<void> | undefined;
  readonly #pace = new SyncPace();

  constructor(
    private readonly database: Database,
    private readonly options: GroupCommitOptions = {},
  ) {
    const prepare = (sql: string) => database.prepare(sql);
    this.#statements = {
      begin: prepare('begin immediate'),
      commit: prepare('commit'),
      mark: prepare('savepoint gdn_change'),
      keep: prepare('release gdn_change'),
      undo: prepare('rollback to gdn_change'),
    };
  }

  /**
   * Makes a change in the next transaction. `make` may run twice, but only one run is kept. It lets errors of SQLite
   * through, leaves no statement open, and returns no promise. `isDurable`: false for a change that need not survive a
   * loss of power. **Errors** — those of `make`; `E_DISK_FULL`, `E_STORE_CORRUPT`, `E_STORE_WRITE`.
   */
  write<Result>(make: () => Result, { isDurable = true } = {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      if (this.#closing) return reject(new GoondanError('E_SWARM_STOPPED', 'The store is closed.'));
      const open = this.#waiting.length + this.#unsynced.length + this.#syncing.length;
      if (open >= MOST_OPEN) return reject(tooMany());
      const makeIt = () => {
        const result = make();
        if (result instanceof Promise) throw new TypeError('A change of the store returned a promise.');
        return () => resolve(result);
      };
      this.#waiting.push({ make: makeIt, isDurable, reject });
      this.#plan();
    });
  }

  /** The number of transactions. */
  get count(): number {
    return this.#count;
  }

  /** True after a sync that failed (invariant 3). */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Refuses later changes. Resolves when the promises of all earlier ones are settled. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    this.#endIfDone();
    return this.#closing.promise;
  }

  /** Ends the writer, because a sync has failed: here, or in a checkpoint. */
  fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = storeError(error, this.database.filename);
    const unsure = [...this.#syncing, ...this.#unsynced].map(({ change }) => change);
    const open = [...unsure, ...this.#waiting];
    [this.#syncing, this.#unsynced, this.#waiting] = [[], [], []];
    for (const { reject } of open) reject(this.#failure);
    this.options.onFailure?.(this.#failure);
    this.#endIfDone();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#commitWaiting());
  }

  #commitWaiting(): void {
    const changes = this.#waiting.splice(0, this.#apart > 0 ? 1 : this.#waiting.length);
    this.#apart = Math.max(0, this.#apart - 1);
    this.#isPlanned = false;
    this.#isCommitting = true;
    if (changes.length > 0) this.#commit(changes);
    this.#isCommitting = false;
    if (this.#waiting.length > 0) this.#plan();
    this.#endIfDone();
  }

  #commit(changes: readonly Change[]): void {
    const { begin, commit } = this.#statements;
    try {
      begin.run();
    } catch (error) {
      if (isBusy(error)) return this.#waitForOther(changes);
      this.#busySince = undefined;
      return this.#takeBack(changes, error);
    }
    this.#busySince = undefined;
    let committed: readonly CommittedChange[];
    try {
      committed = changes.map((change) => ({ change, confirm: this.#make(change) }));
      commit.run();
    } catch (error) {
      return this.#takeBack(changes, error);
    }
    this.#count += 1;
    // A change may have found out that a sync has failed.
    if (this.#failure) for (const { change } of committed) change.reject(this.#failure);
    else this.#confirm(committed);
    if (!this.#failure) this.options.onCommit?.(this.#count);
  }

  /** A change that fails takes back what it wrote, unless SQLite has ended the whole transaction. */
  #make({ make, reject }: Change): () => void {
    const { mark, keep, undo } = this.#statements;
    mark.run();
    try {
      const confirm = make();
      keep.run();
      return confirm;
    } catch (error) {
      if (!this.database.inTransaction) throw error;
      undo.run();
      keep.run();
      this.options.onRollback?.();
      const failure = storeError(error, this.database.filename);
      return () => reject(failure);
    }
  }

  /** Nothing of the transaction is in the database. */
  #takeBack(changes: readonly Change[], error: unknown): void {
    if (this.database.inTransaction) this.database.run('rollback');
    this.options.onRollback?.();
    if (isFailedSync(error)) this.fail(error);
    if (changes.length > 1 && !this.#failure) {
      // They keep their order, before all newer ones.
      this.#waiting = [...changes, ...this.#waiting];
      this.#apart = changes.length;
      return;
    }
    for (const { reject } of changes) reject(this.#failure ?? storeError(error, this.database.filename));
  }

  /** A program such as the sqlite3 shell has the database. */
  #waitForOther(changes: readonly Change[]): void {
    this.#busySince ??= performance.now();
    if (performance.now() - this.#busySince >= (this.options.foreignMs ?? FOREIGN_MS)) {
      this.#busySince = undefined;
      const late = [...changes, ...this.#waiting.splice(0, this.#apart)];
      this.#apart = 0;
      for (const { reject } of late) reject(heldByOther(this.database.filename));
      return;
    }
    this.#waiting = [...changes, ...this.#waiting];
    if (changes.length === 1) this.#apart += 1;
    this.#isPlanned = true;
    setTimeout(() => this.#commitWaiting(), AGAIN_MS);
  }

  #confirm(committed: readonly CommittedChange[]): void {
    const { log } = this.options;
    for (const each of committed) {
      if (each.change.isDurable && log !== undefined) this.#unsynced.push(each);
      else each.confirm();
    }
    if (log === undefined || this.#unsynced.length === 0 || this.#syncing.length > 0) return;
    if (committed.length <= MOST_CHANGES_HERE && this.#pace.isFast) this.#syncHere(log);
    else void this.#syncAside(log);
  }

  #syncHere(log: SyncedLog): void {
    this.#beginSync();
    try {
      const end = this.#pace.begin();
      log.syncHere();
      end();
    } catch (error) {
      return this.fail(error);
    }
    this.#endSync();
  }

  async #syncAside(log: SyncedLog): Promise<void> {
    while (this.#unsynced.length > 0) {
      this.#beginSync();
      const end = this.#pace.begin();
      try {
        await log.syncAside();
      } catch (error) {
        return this.fail(error);
      }
      end();
      this.#endSync();
    }
    this.#endIfDone();
  }

  #beginSync(): void {
    this.#syncing = this.#unsynced;
    this.#unsynced = [];
  }

  #endSync(): void {
    const synced = this.#syncing;
    this.#syncing = [];
    for (const { confirm } of synced) confirm();
  }

  #endIfDone(): void {
    if (!this.#closing || this.#isPlanned || this.#isCommitting || this.#syncing.length + this.#unsynced.length > 0)
      return;
    for (const statement of Object.values(this.#statements)) statement.finalize();
    this.#closing.resolve();
  }
}

/** How long syncs take. One long sync counts for a while; many short ones make up for it. */
class SyncPace {
  #usualMs = SHORT_SYNC_MS;

  get isFast(): boolean {
    return this.#usualMs < SHORT_SYNC_MS;
  }

  begin(): () => void {
    const from = performance.now();
    return () => {
      const ms = Math.min(performance.now() - from, 20);
      this.#usualMs += (ms - this.#usualMs) * (ms > this.#usualMs ? 0.5 : 0.1);
    };
  }
}

function tooMany(): GoondanError {
  return new GoondanError('E_STORE_WRITE', `${MOST_OPEN} changes wait for the disk.`, { retryable: true });
}

export function heldByOther(path: string): GoondanError {
  const message = `Another program has held the write lock of ${path} for too long.`;
  const suggestion = 'End the program that writes the database, for example a sqlite3 shell. Nothing was changed.';
  return new GoondanError('E_STORE_WRITE', message, { retryable: true, suggestion });
}
