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

/** Damaged data, a damaged index, another inner error, or an error of the disk. */
const UNREADABLE = /^(?:XX|58030)/;

interface Refusal {
  readonly state: RegExp;
  readonly code: 'E_STORE_ADDRESS' | 'E_STORE_SCHEMA' | 'E_DISK_FULL';
  readonly start: string;
  /** Absent: that of the code. */
  readonly suggestion?: string;
}

const refusals: readonly Refusal[] = [
  {
    state: /^28/,
    code: 'E_STORE_ADDRESS',
    start: 'The database refused the connection',
    suggestion: 'Check the user and the password of the address, and `pg_hba.conf` of the server.',
  },
  {
    state: /^3D000/,
    code: 'E_STORE_ADDRESS',
    start: 'The database refused the connection',
    suggestion: 'Correct the name of the database in the address, or make the database with `createdb`.',
  },
  {
    state: /^(?:42P01|42703)/,
    code: 'E_STORE_SCHEMA',
    start: 'The database does not have the tables of this version',
  },
  { state: /^53100/, code: 'E_DISK_FULL', start: 'The disk of the database is full' },
];

/** A prepared statement is not, or is already, at the connection; or a pooler does not know a setting of the connect. */
const POOLED = /^(?:26000|42P05|08P01.*(?:prepared statement|startup parameter))/;
const REFUSED_SETTING = /^08P01.*startup parameter/;
const HOW_TO_POOL = 'Add `prepare=false` and `notify=false` to the address, as docs/clusters.md shows.';

const TOO_MANY =
  'Raise `max_connections` of PostgreSQL, or put PgBouncer between the nodes and the database. Nothing that was accepted is lost.';

/** The SQLSTATE of a statement that the user of the database may not run. */
const MISSING_RIGHT = '42501';

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

/** Gives an error of the driver its code. The text of the error has no password, and nothing of the statement. */
export function codedError(error: unknown, address: StoreAddress, statement = ''): GoondanError {
  if (GoondanError.is(error)) return error;
  const { code = '', errno, message = String(error) } = error as DriverError;
  const text = address.mask(message);
  const state = code === 'ERR_POSTGRES_SERVER_ERROR' ? errno : undefined;
  // The driver's error may have the statement and its values.
  const cause = new AwayCause(text, state ?? (error instanceof TooLate ? 'late' : 'cut'));
  if (state === undefined && REFUSED_TLS.test(code)) {
    const suggestion =
      'Check `sslmode` and `sslrootcert` of the address, the name of its host, and the certificate of the server.';
    const problem = `No secure connection to the database can be made: ${text} (${code})`;
    return new GoondanError('E_STORE_ADDRESS', problem, { cause, suggestion });
  }
  if (state === undefined) return storeAway(text, { cause, address });
  if (POOLED.test(`${state} ${text}`)) {
    const problem = `A pooler is before the database, and the address does not say so: ${text} (${state})`;
    return new GoondanError('E_STORE_ADDRESS', problem, { cause, suggestion: HOW_TO_POOL });
  }
  if (AWAY.test(state)) {
    const suggestion = state === '53300' ? TOO_MANY : undefined;
    return storeAway(`${text} (${state})`, { cause, address, ...(suggestion && { suggestion }) });
  }
  if (state === MISSING_RIGHT) return missingRight(text, statement, cause);
  const found = refusals.find((refusal) => refusal.state.test(state));
  if (found === undefined)
    return new GoondanError('E_STORE_WRITE', `The database refused a statement: ${text} (${state})`, { cause });
  const { suggestion } = found;
  return new GoondanError(found.code, `${found.start}: ${text} (${state})`, {
    cause,
    ...(suggestion && { suggestion }),
  });
}

function missingRight(text: string, statement: string, cause: Error): GoondanError {
  const code = /^\s*select\b/i.test(statement) ? 'E_STORE_READ' : 'E_STORE_WRITE';
  const suggestion = 'Use another user of the database, or grant the right; docs/clusters.md lists the rights.';
  const message = `The user of the database does not have this right: ${text} (${MISSING_RIGHT})`;
  return new GoondanError(code, message, { suggestion, cause });
}

interface AwayFacts {
  readonly address?: StoreAddress;
  readonly cause?: unknown;
  readonly suggestion?: string;
}

export function storeAway(why: string, { address, ...facts }: AwayFacts = {}): GoondanError {
  const message = `The database${address === undefined ? '' : ` at ${address.place}`} cannot be reached: ${why}`;
  return new GoondanError('E_STORE_AWAY', message, { retryable: true, ...facts });
}

/** Returns true if the database cannot read what it has stored: its pages are damaged, or its disk fails. */
export function isUnreadable(error: unknown): boolean {
  return GoondanError.is(error) && error.cause instanceof AwayCause && UNREADABLE.test(error.cause.code);
}

/** Returns true if the database refused the user or the password. */
export function isRefusedLogin({ cause }: GoondanError): boolean {
  return cause instanceof AwayCause && cause.code.startsWith('28');
}

/** Returns true if a pooler refused the connect because it does not know a setting of it. */
export function isRefusedSetting({ cause }: GoondanError): boolean {
  return cause instanceof AwayCause && REFUSED_SETTING.test(`${cause.code} ${cause.message}`);
}

/** Returns true if the database did not answer in time, or ended the statement after that time (57014). */
export function isLate({ cause }: GoondanError): boolean {
  return cause instanceof AwayCause && (cause.code === 'late' || cause.code === '57014');
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
