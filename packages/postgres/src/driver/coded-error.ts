import { GoondanError } from '@goondan/types';
import type { StoreAddress } from './address.ts';

/**
 * The server is going away, is not ready, is a standby (25006), has no room for a connection, or gave up the statement for
 * another one. The same statement can succeed later.
 */
const AWAY = /^(?:08|57P|57014|53200|53300|25006|40001|40P01|55P03)/;

const refusals: readonly (readonly [RegExp, 'E_STORE_ADDRESS' | 'E_STORE_SCHEMA' | 'E_DISK_FULL', string])[] = [
  [/^(?:28|3D000)/, 'E_STORE_ADDRESS', 'The database refused the connection'],
  [/^(?:42P01|42703)/, 'E_STORE_SCHEMA', 'The database does not have the tables of this version'],
  [/^53100/, 'E_DISK_FULL', 'The disk of the database is full'],
];

interface DriverError {
  readonly code?: string;
  readonly message?: string;
  readonly severity?: string;
}

/** Gives an error of the driver its code. The text of the error has no password. */
export function codedError(error: unknown, address: StoreAddress): GoondanError {
  const { code = '', message = String(error), severity } = error as DriverError;
  const text = address.mask(message);
  // The driver's error has the statement and its values.
  const cause = Object.assign(new Error(text), { code });
  // Only an error of the server has a severity. Codes of the system such as EPIPE look like its codes.
  if (severity === undefined || AWAY.test(code)) return storeAway(`${text}${code === '' ? '' : ` (${code})`}`, cause);
  const [, refusal, start] = refusals.find(([pattern]) => pattern.test(code)) ?? [];
  if (refusal !== undefined) return new GoondanError(refusal, `${start}: ${text} (${code})`, { cause });
  return new GoondanError('E_STORE_WRITE', `The database refused a statement: ${text} (${code})`, { cause });
}

export function storeAway(why: string, cause?: unknown): GoondanError {
  const message = `The database cannot be reached: ${why}`;
  return new GoondanError('E_STORE_AWAY', message, { retryable: true, cause });
}

/** Returns true if the connection leads to a server that takes no writes, for example after a failover. */
export function isReadOnly(error: GoondanError): boolean {
  return (error.cause as { readonly code?: string } | undefined)?.code === '25006';
}
