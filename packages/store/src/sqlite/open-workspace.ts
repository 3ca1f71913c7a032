/**
 * Opens the database of a workspace for its owner, the process with the lock of the folder. It is the only writer.
 *
 * From the open to the close, this process must not open or close `workspace.db`, its WAL or its `-shm` by other means:
 * closing any descriptor drops the locks of SQLite, and then another process may delete the WAL. So the files are looked at
 * before they are opened, the descriptor that syncs the WAL is closed after the database, and nobody opens a folder twice.
 */
import { constants, Database } from 'bun:sqlite';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { type CheckpointOptions, Checkpoints } from './checkpoints.ts';
import { FOREIGN_MS, GroupCommit, heldByOther } from './group-commit.ts';
import {
  APPLICATION_ID,
  keepDamagedLog,
  prepareFile,
  refuseSharedDisk,
  refuseVersion,
  RESTORE,
  SCHEMA_VERSION,
} from './inspect-files.ts';
import { SideThread } from './side-work.ts';
import { codeOf, isBusy, isFailedSync, storeError } from './sqlite-error.ts';
import { freeBytesOf, syncPath, WalFile } from './synced-files.ts';

export interface Workspace {
  readonly database: Database;
  readonly commits: GroupCommit;
  /** A number that every open of the database raises. */
  readonly epoch: number;
  /** The thread for slow work. */
  readonly side: SideThread;
  /** True if the last owner ended without closing the database. */
  readonly wasLeft: boolean;
  /**
   * Gives the WAL its room: then syncs change no size of a file, and are almost as fast as the disk. It takes tens of
   * milliseconds, so it is for after the start. **Errors** — those of `commits.write`.
   */
  makeRoom(bytes?: number): Promise<void>;
  /**
   * Closes everything, after what was written is on the disk. After a failed sync it leaves the database open: closing it
   * would copy the log, which may not be on the disk. Then end the process with SIGKILL; `exit` closes the database, too.
   */
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  /** Told of a problem that no caller gets as an error. Must not throw. */
  readonly report: (problem: string) => void;
  readonly onRollback?: () => void;
  /** Called once, after a sync that failed. The process must end. */
  readonly onFailure?: (error: GoondanError) => void;
  readonly checkpoints?: Omit<CheckpointOptions, 'report'>;
  readonly now?: () => Date;
  /** The time that a foreign program may hold the database. */
  readonly foreignMs?: number;
}

/** The name of the database in the folder of its workspace. */
export const DATABASE = 'workspace.db';
const PAGE_BYTES = 4096;
const ROOM_BYTES = 8 * 1024 * 1024;
/** How many times the room must be free on the disk. */
const SPARE = 4;
const AGAIN_MS = 5;
/** Here SQLite syncs each commit itself, because `fdatasync` does not reach the disk. */
const syncsItself = process.platform === 'darwin';

/** The folders that this process has open. */
const openFolders = new Set<string>();
/** Databases whose sync has failed. The garbage collector would close them, and so copy their logs. */
const failedDatabases = new Set<Database>();

/** **Errors** — `E_LOCKED`, `E_STORE_FORMAT`, `E_STORE_CORRUPT`, `E_STORE_WRITE`, `E_DISK_FULL`. */
export async function openWorkspace(folder: string, options: WorkspaceOptions): Promise<Workspace> {
  const path = join(folder, DATABASE);
  try {
    const { dev, ino } = statSync(folder);
    const name = `${dev}:${ino}`;
    if (openFolders.has(name)) throw new GoondanError('E_LOCKED', `This process has ${path} open.`);
    openFolders.add(name);
    const free = () => void openFolders.delete(name);
    try {
      return await openFiles(folder, path, options, free);
    } catch (error) {
      if (!isFailedSync(error)) free();
      throw error;
    }
  } catch (error) {
    throw storeError(error, path);
  }
}

async function openFiles(
  folder: string,
  path: string,
  options: WorkspaceOptions,
  free: () => void,
): Promise<Workspace> {
  refuseSharedDisk(folder);
  const hadLog = existsSync(`${path}-wal`);
  prepareFile(path);
  const copy = `${path}-wal.${(options.now?.() ?? new Date()).toISOString().replaceAll(':', '-')}`;
  const damage = keepDamagedLog(path, copy);
  if (damage !== undefined) options.report(damage);
  syncPath(folder);
  const { database, epoch, wasLeft } = await connect(path, options.foreignMs ?? FOREIGN_MS);
  try {
    if (wasLeft && !hadLog) options.report(`${path}-wal is missing, and ${path} was not closed. Changes may be lost.`);
    for (const end of ['', '-wal', '-shm']) chmodSync(`${path}${end}`, 0o600);
    return run(database, { epoch, wasLeft }, options, free);
  } catch (error) {
    database.close(true);
    throw error;
  }
}

function run(
  database: Database,
  found: Pick<Workspace, 'epoch' | 'wasLeft'>,
  options: WorkspaceOptions,
  free: () => void,
): Workspace {
  const wal = new WalFile(database.filename);
  const side = new SideThread(database.filename);
  const { onRollback, onFailure, foreignMs, report } = options;
  const commits: GroupCommit = new GroupCommit(database, {
    ...(!syncsItself && { log: wal }),
    onCommit: (count) => checkpoints.look(count),
    ...(onRollback && { onRollback }),
    onFailure(error) {
      failedDatabases.add(database);
      onFailure?.(error);
    },
    ...(foreignMs !== undefined && { foreignMs }),
  });
  const checkpoints = new Checkpoints(database, side, commits, { report, ...options.checkpoints });
  let closing: Promise<void> | undefined;
  return {
    ...found,
    database,
    commits,
    side,
    makeRoom: (bytes = ROOM_BYTES) => makeRoom({ database, commits }, wal, bytes, report),
    close: () => (closing ??= close({ database, commits, side }, wal, options, free)),
  };
}

async function close(
  { database, commits, side }: Pick<Workspace, 'database' | 'commits' | 'side'>,
  wal: WalFile,
  { report, foreignMs = FOREIGN_MS }: WorkspaceOptions,
  free: () => void,
): Promise<void> {
  await commits.close();
  // Its last checkpoint may fail.
  if (!commits.hasFailed) await side.close();
  if (commits.hasFailed) return;
  try {
    await whenFree(database.filename, foreignMs, () => {
      database.run("update meta set value = 1 where name = 'clean'");
      database.run('pragma wal_checkpoint(truncate)');
    });
  } catch (error) {
    if (isFailedSync(error)) return commits.fail(error);
    // Of a statement that somebody left open: closing the database ends it, and copies the log.
    if (!codeOf(error).startsWith('SQLITE_LOCKED')) report(storeError(error, database.filename).message);
  }
  // Statements that somebody left open would keep the database, and its locks.
  database.close(true);
  wal.close();
  free();
}

async function makeRoom(
  { database, commits }: Pick<Workspace, 'database' | 'commits'>,
  wal: WalFile,
  bytes: number,
  report: (problem: string) => void,
): Promise<void> {
  const path = database.filename;
  try {
    if (freeBytesOf(path) < SPARE * bytes) return report(`The disk of ${path} is almost full.`);
  } catch (error) {
    throw storeError(error, path);
  }
  // As a change, because nobody else may write meanwhile.
  await commits.write(
    () => {
      wal.makeRoom(bytes);
      try {
        wal.syncHere();
      } catch (error) {
        commits.fail(error);
        throw error;
      }
    },
    { isDurable: false },
  );
}

/** Opens the database and notes its new owner. */
async function connect(path: string, foreignMs: number) {
  const database = new Database(path, { strict: true, readwrite: true });
  // Also for a database that is refused: its log stays.
  database.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
  try {
    const found = await whenFree(path, foreignMs, () => {
      refuseOther(database);
      configure(database);
      return begin(database);
    });
    return { database, ...found };
  } catch (error) {
    // After a failed sync, a close would sync again.
    if (isFailedSync(error)) failedDatabases.add(database);
    else database.close(true);
    throw error;
  }
}

/** Runs work again while another program holds the database. **Errors** — `E_STORE_WRITE` if that takes too long. */
async function whenFree<Result>(path: string, foreignMs: number, work: () => Result): Promise<Result> {
  const until = performance.now() + foreignMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > until) throw heldByOther(path);
      await Bun.sleep(AGAIN_MS);
    }
  }
}

/** Looks before anything is written. */
function refuseOther(database: Database): void {
  const isEmpty = numberOf(database, 'select count(*) from sqlite_schema') === 0;
  const application = numberOf(database, 'pragma application_id');
  refuseVersion(database.filename, application, numberOf(database, 'pragma user_version'), isEmpty);
}

function configure(database: Database): void {
  const settings = [
    `page_size = ${PAGE_BYTES}`,
    'journal_mode = wal',
    // The owner is noted durably; `begin` then sets what commits need.
    'synchronous = full',
    'fullfsync = on',
    'wal_autocheckpoint = 0',
    // With more, the memory of the process grows by as much: the system caches the file, too.
    'cache_size = -4000',
    'temp_store = memory',
  ];
  for (const setting of settings) database.run(`pragma ${setting}`);
}

/** Makes the tables of a new database, and notes in the database itself that it has an owner. */
function begin(database: Database): Pick<Workspace, 'epoch' | 'wasLeft'> {
  const found = database
    .transaction(() => {
      database.run(
        'create table if not exists meta (name text primary key, value integer not null) strict, without rowid',
      );
      database.run(`pragma application_id = ${APPLICATION_ID}`);
      database.run(`pragma user_version = ${SCHEMA_VERSION}`);
      database.run("insert into meta values ('epoch', 0), ('clean', 1) on conflict do nothing");
      const wasLeft = numberOf(database, "select value from meta where name = 'clean'") === 0;
      database.run("update meta set value = value + 1 where name = 'epoch'");
      database.run("update meta set value = 0 where name = 'clean'");
      return { wasLeft, epoch: numberOf(database, "select value from meta where name = 'epoch'") };
    })
    .immediate();
  database.run('pragma wal_checkpoint(truncate)');
  if (!syncsItself) database.run('pragma synchronous = normal');
  return found;
}

function numberOf(database: Database, sql: string): number {
  const [[value] = []] = database.query(sql).values();
  if (typeof value === 'number') return value;
  throw new GoondanError('E_STORE_CORRUPT', `${database.filename} has no answer to "${sql}".`, { suggestion: RESTORE });
}
