/**
 * The slow work on an open database, in a thread with a connection of its own, so that the event loop goes on: the bulk of
 * checkpoints, checks and snapshots.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { workerData } from 'node:worker_threads';
import { codeOf } from './sqlite-error.ts';

export type SideWork =
  /** Copies pages from the WAL into the database. */
  | { readonly kind: 'checkpoint' }
  /** Reads all pages. The answer has a text for each problem. */
  | { readonly kind: 'check' }
  /** Writes a copy of the database into a new file. */
  | { readonly kind: 'snapshot'; readonly path: string }
  | { readonly kind: 'close' };

export interface SideAnswer {
  readonly problems: readonly string[];
  /** The error of work that could not be done, with the code of SQLite or of the system. */
  readonly failed?: { readonly message: string; readonly code: string };
}

declare const self: Worker;

const MOST_PROBLEMS = 100;
// Safe: only `SideThread` starts this file.
const database = new Database(workerData as string, { strict: true, readwrite: true });
database.run('pragma synchronous = full');
database.run('pragma fullfsync = on');
database.run('pragma wal_autocheckpoint = 0');

function perform(work: SideWork): readonly string[] {
  switch (work.kind) {
    case 'checkpoint':
      database.query('pragma wal_checkpoint(passive)').get();
      return [];
    case 'check':
      return check();
    case 'snapshot':
      database.query('vacuum into ?').run(work.path);
      return [];
    case 'close':
      database.close();
      return [];
  }
}

function check(): readonly string[] {
  try {
    const rows = database.query<{ quick_check: string }, []>(`pragma quick_check(${MOST_PROBLEMS})`).all();
    return rows.map((row) => row.quick_check).filter((text) => text !== 'ok');
  } catch (error) {
    // Some damage ends the check itself.
    if (error instanceof SQLiteError && error.code?.startsWith('SQLITE_CORRUPT') === true) return [error.message];
    throw error;
  }
}

self.onmessage = ({ data }: MessageEvent<SideWork>) => {
  try {
    postMessage({ problems: perform(data) } satisfies SideAnswer);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    postMessage({ problems: [], failed: { message, code: codeOf(error) } } satisfies SideAnswer);
  }
};
