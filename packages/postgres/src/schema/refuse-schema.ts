import { GoondanError } from '@goondan/types';

/** Throws if the tables are missing, or are older than this program needs. **Errors** — `E_STORE_SCHEMA`. */
export function refuseSchema(version: number, known: number): void {
  if (version === 0) throw new GoondanError('E_STORE_SCHEMA', 'The database has no tables of Goondan.');
  if (version >= known) return;
  throw new GoondanError(
    'E_STORE_SCHEMA',
    `The tables of the database have version ${version}, and this program needs version ${known}.`,
  );
}
