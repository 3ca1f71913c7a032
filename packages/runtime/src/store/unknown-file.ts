import { GoondanError } from '@goondan/types';

/** The error about a reference that leads nowhere. */
export function unknownFile(digest: string): GoondanError {
  return new GoondanError('E_FILE_UNKNOWN', `No file with the SHA-256 ${digest} is stored.`);
}

export function damagedFile(digest: string, place: string): GoondanError {
  return new GoondanError('E_STORE_CORRUPT', `${place}: the bytes do not have the SHA-256 ${digest}`);
}
