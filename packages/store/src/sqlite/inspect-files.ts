/**
 * Looks at the files of a database before SQLite opens them. Afterwards nobody in this process may: closing any
 * descriptor of the database drops the locks that SQLite has on it.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { GoondanError } from '@goondan/types';
import { codeOf } from './sqlite-error.ts';
import { syncPath } from './synced-files.ts';
import { countDropped } from './wal-tail.ts';

/** "GOON", in the header of our databases. */
export const APPLICATION_ID = 0x474f4f4e;
export const SCHEMA_VERSION = 1;

/** File systems whose machines do not share memory: two of them could write at once. The numbers are those of `statfs`. */
const sharedDisks: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
]);

/** Refuses a folder that another machine may write, too. **Errors** — `E_STORE_FORMAT`. */
export function refuseSharedDisk(folder: string, type = statfsSync(folder).type): void {
  const name = sharedDisks.get(type);
  if (name === undefined) return;
  const suggestion = 'Put the state on a local disk with `--state-root`, or keep it in PostgreSQL with `--store`.';
  throw new GoondanError('E_STORE_FORMAT', `${folder} is on a shared disk (${name}).`, { suggestion });
}

/**
 * Makes the file of a new database, for its owner only, or refuses a file that is no database of ours. **Errors** —
 * `E_STORE_FORMAT`, `E_STORE_CORRUPT`.
 */
export function prepareFile(path: string): void {
  if (sizeOf(path) === 0 && sizeOf(`${path}-wal`) > 0) {
    const message = `${path} is missing or empty, and its log ${path}-wal is there.`;
    throw new GoondanError('E_STORE_CORRUPT', message, { suggestion: RESTORE });
  }
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const descriptor = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(descriptor).isFile()) throw new GoondanError('E_STORE_FORMAT', `${path} is not a file.`);
    const header = new Uint8Array(HEADER);
    const length = readSync(descriptor, header, 0, HEADER, 0);
    // SQLite itself takes back what a crash has left half made.
    const isHalfMade = length === 0 || existsSync(`${path}-journal`);
    if (!isHalfMade) refuseHeader(path, header.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

const HEADER = 100;
const BEGINNING = 'SQLite format 3\0';

function refuseHeader(path: string, header: Uint8Array): void {
  const isWhole = header.length === HEADER && Buffer.from(header).toString('latin1', 0, 16) === BEGINNING;
  if (!isWhole) {
    const message = `${path} does not begin like a database.`;
    throw new GoondanError('E_STORE_CORRUPT', message, { suggestion: RESTORE });
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  refuseVersion(path, view.getUint32(68), view.getUint32(60));
}

/**
 * `isEmpty`: true for a database without tables, false if it has some, `undefined` while nobody knows. **Errors** —
 * `E_STORE_FORMAT`, for a database of another program or of another version.
 */
export function refuseVersion(path: string, application: number, version: number, isEmpty?: boolean): void {
  // The numbers of a new database may still be in its log only.
  if (application === 0 && version === 0 && isEmpty !== false) return;
  if (application !== APPLICATION_ID) throw new GoondanError('E_STORE_FORMAT', `${path} belongs to another program.`);
  if (version === SCHEMA_VERSION) return;
  const message = `${path} has version ${version}; this version of Goondan knows version ${SCHEMA_VERSION}.`;
  throw new GoondanError('E_STORE_FORMAT', message);
}

export const RESTORE = 'Restore it with `gdn restore`, or try `.recover` of the sqlite3 shell on a copy of the folder.';

/**
 * Copies a log whose end SQLite will drop, and returns a sentence about it; `undefined` when SQLite will read all of it,
 * or when it has none. `copy` is the path of the copy. **Errors** — those of the disk: without a copy, the end is not dropped.
 */
export function keepDamagedLog(path: string, copy: string): string | undefined {
  const dropped = countDroppedIn(`${path}-wal`);
  if (dropped === 0) return undefined;
  try {
    copyFileSync(`${path}-wal`, copy, constants.COPYFILE_EXCL);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') rmSync(copy, { force: true });
    throw error;
  }
  syncPath(copy);
  return (
    `The end of ${path}-wal cannot be read: ${dropped} pages behind a wrong checksum are left out. After a loss of power ` +
    `this is usual, and nothing that was confirmed is lost. Otherwise the file was damaged. A copy is in ${copy}.`
  );
}

function countDroppedIn(path: string): number {
  if (sizeOf(path) === 0) return 0;
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return countDropped((offset, length) => {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
    }, fstatSync(descriptor).size);
  } finally {
    closeSync(descriptor);
  }
}
