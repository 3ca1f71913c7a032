/** The errors of SQLite and of its disk, as errors of Goondan. */
import { type ErrorCode, GoondanError } from '@goondan/types';

/** The beginnings of codes, of SQLite and of the system. */
const codes: readonly (readonly [beginning: string, code: ErrorCode])[] = [
  ['SQLITE_FULL', 'E_DISK_FULL'],
  ['SQLITE_IOERR_SHMSIZE', 'E_DISK_FULL'],
  ['ENOSPC', 'E_DISK_FULL'],
  ['EDQUOT', 'E_DISK_FULL'],
  ['SQLITE_CORRUPT', 'E_STORE_CORRUPT'],
  ['SQLITE_NOTADB', 'E_STORE_CORRUPT'],
];

/** Returns an error of Goondan as it is. */
export function storeError(thrown: unknown, path: string): GoondanError {
  if (GoondanError.is(thrown)) return thrown;
  const cause = codeOf(thrown);
  const [, code = 'E_STORE_WRITE'] = codes.find(([beginning]) => cause.startsWith(beginning)) ?? [];
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new GoondanError(code, `${path}: ${text} (${cause})`, { cause: thrown });
}

/** True when another program writes the database now. */
export function isBusy(thrown: unknown): boolean {
  return codeOf(thrown).startsWith('SQLITE_BUSY');
}

/** True when SQLite could not sync a file; also for the error of Goondan about it. */
export function isFailedSync(thrown: unknown): boolean {
  const cause = GoondanError.is(thrown) ? thrown.cause : thrown;
  return /^SQLITE_IOERR_(?:DIR_)?FSYNC/.test(codeOf(cause));
}

/** The code of SQLite or of the system. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
}
