import { expect, test } from 'bun:test';
import { isBusy, isFailedSync, storeError } from './sqlite-error.ts';

const errorWith = (code: string) => Object.assign(new Error('why'), { code });

test.each([
  ['SQLITE_FULL', 'E_DISK_FULL'],
  ['SQLITE_IOERR_SHMSIZE', 'E_DISK_FULL'],
  ['ENOSPC', 'E_DISK_FULL'],
  ['EDQUOT', 'E_DISK_FULL'],
  ['SQLITE_CORRUPT_INDEX', 'E_STORE_CORRUPT'],
  ['SQLITE_NOTADB', 'E_STORE_CORRUPT'],
  ['SQLITE_IOERR_FSYNC', 'E_STORE_WRITE'],
])('%s is %s', (cause, code) => {
  const error = errorWith(cause);
  expect(storeError(error, 'a.db')).toMatchObject({ code, cause: error });
});

test('another writer, and a failed sync, are known by each of their codes', () => {
  const codes = ['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_DIR_FSYNC', 'SQLITE_FULL'];
  const errors = codes.map(errorWith);
  expect(errors.map(isBusy)).toEqual([true, true, false, false, false]);
  expect(errors.map(isFailedSync)).toEqual([false, false, true, true, false]);
  expect(errors.map((error) => isFailedSync(storeError(error, 'a.db')))).toEqual([false, false, true, true, false]);
});
