import { GoondanError } from '@goondan/types';
import type { StoreAddress } from './address.ts';
import { TooLate } from './within.ts';

/**
 * The server is going away, is not ready, is a standby (25006), has no room for a connection, or gave up the statement for
 * another one. The same statement can succeed later.
 */
const AWAY = /^(?:08|57P|57014|53200|53300|25006|40001|40P01|55P03)/;
/** Another server, or a new connection, may take the statement. */
const ELSEWHERE = /^(?:08|57P|25006)/;

const refusals: readonly (readonly [RegExp, 'E_STORE_ADDRESS' | 'E_STORE_SCHEMA' | 'E_DISK_FULL', string])[] = [
  [/^(?:28|3D000)/, 'E_STORE_ADDRESS', 'The database refused the connection'],
  [/^(?:42P01|42703)/, 'E_STORE_SCHEMA', 'The database does not have the tables of this version'],
  [/^53100/, 'E_DISK_FULL', 'The disk of the database is full'],
];

/** OpenSSL or the driver refuses the certificate of the server, or the server has no TLS. Waiting does not help. */
const REFUSED_TLS = /CERT|SELF_SIGNED|ISSUER|HOSTNAME_MISMATCH|^ERR_POSTGRES_TLS_(?:NOT_AVAILABLE|UPGRADE_FAILED)$/;

interface DriverError {
  readonly code?: string;
  /** The SQLSTATE of an error of the server. */
  readonly errno?: string;
  readonly message?: string;
}

/** Why the store is away: the SQLSTATE of the server; `late` or `cut` if it did not answer. */
class AwayCause extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Gives an error of the driver its code. The text of the error has no password. */
export function codedError(error: unknown, address: StoreAddress): GoondanError {
  if (GoondanError.is(error)) return error;
  const { code = '', errno, message = String(error) } = error as DriverError;
  const text = address.mask(message);
  const state = code === 'ERR_POSTGRES_SERVER_ERROR' ? errno : undefined;
  // The driver's error may have the statement and its values.
  const cause = new AwayCause(text, state ?? (error instanceof TooLate ? 'late' : 'cut'));
  if (state === undefined && REFUSED_TLS.test(code))
    return new GoondanError('E_STORE_ADDRESS', `No secure connection to the database can be made: ${text} (${code})`, {
      cause,
    });
  if (state === undefined || AWAY.test(state))
    return storeAway(`${text}${state === undefined ? '' : ` (${state})`}`, cause);
  const [, refusal, start] = refusals.find(([pattern]) => pattern.test(state)) ?? [];
  if (refusal !== undefined) return new GoondanError(refusal, `${start}: ${text} (${state})`, { cause });
  return new GoondanError('E_STORE_WRITE', `The database refused a statement: ${text} (${state})`, { cause });
}

export function storeAway(why: string, cause?: unknown): GoondanError {
  const message = `The database cannot be reached: ${why}`;
  return new GoondanError('E_STORE_AWAY', message, { retryable: true, cause });
}

/** Returns true if a new connection may lead further: to another host, or around one that hangs or takes no writes. */
export function isElsewhere({ cause }: GoondanError, hosts: number): boolean {
  if (!(cause instanceof AwayCause)) return false;
  return (
    cause.code === 'late' ||
    cause.code === '25006' ||
    (hosts > 1 && (cause.code === 'cut' || ELSEWHERE.test(cause.code)))
  );
}
