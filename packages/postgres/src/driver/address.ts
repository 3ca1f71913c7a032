/**
 * The address of a store: `postgres://user@host:port/database?sslmode=verify-full`. Several hosts are separated by commas.
 *
 * Invariant: no text, error or copy that is made from an address has its password.
 */
import { inspect } from 'node:util';
import { GoondanError } from '@goondan/types';

/** `prefer`: with TLS if the server has it. It is the default for a host that is not this machine. */
export type TlsMode = 'disable' | 'prefer' | 'require' | 'verify-full';

export interface StoreHost {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 5432;
const FORM = /^postgres(?:ql)?:\/\/(?:(?<who>.*)@)?(?<hosts>[^@/?#]*)\/(?<database>[^/?#]+)(?:\?(?<settings>[^#]*))?$/s;
const HOST = /^(?:\[(?<six>[0-9A-Fa-f:.]+)\]|(?<name>[^:[\]\s]+))(?::(?<port>\d{1,5}))?$/;
const SETTINGS = ['host', 'notify', 'prepare', 'sslmode', 'sslrootcert', 'target_session_attrs'];
const SESSIONS = ['any', 'primary', 'read-write'];
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-full'];

export class StoreAddress {
  readonly #password: string | undefined;

  private constructor(
    /** The hosts, in the order in which they are tried; none for a socket. */
    readonly hosts: readonly StoreHost[],
    /** The folder of the server's Unix socket. */
    readonly socketFolder: string | undefined,
    readonly database: string,
    readonly user: string | undefined,
    readonly tls: TlsMode,
    /** The file with the certificates that `verify-full` trusts. */
    readonly rootCertificate: string | undefined,
    /** False for a pooler that gives each statement another connection. */
    readonly mayPrepare: boolean,
    /** False for a database without NOTIFY, or behind a pooler that does not pass it on. */
    readonly mayNotify: boolean,
    password: string | undefined,
  ) {
    this.#password = password;
  }

  /** Reads an address. **Errors** — `E_STORE_ADDRESS`; its message has no part of the text. */
  static parse(text: string): StoreAddress {
    const { who, hosts = '', database = '', settings = '' } = FORM.exec(text)?.groups ?? {};
    if (database === '') throw unusable('It is not of the form postgres://user@host/database');
    const read = readSettings(settings);
    const socketFolder = read.get('host');
    if (socketFolder !== undefined && (hosts !== '' || !socketFolder.startsWith('/')))
      throw unusable('`host` is the folder of a Unix socket, in an address without a host');
    if (socketFolder === undefined && hosts === '') throw unusable('It has no host');
    const list = hosts === '' ? [] : hosts.split(',').map(readHost);
    const colon = who?.indexOf(':') ?? -1;
    const user = decode(who?.slice(0, colon < 0 ? undefined : colon));
    const password = colon < 0 ? undefined : decode(who?.slice(colon + 1));
    const isLocal = list.every(({ host }) => isLoopback(host));
    const tls = (read.get('sslmode') ?? (isLocal ? 'disable' : 'prefer')) as TlsMode;
    const rootCertificate = read.get('sslrootcert');
    if (rootCertificate !== undefined && tls !== 'verify-full')
      throw unusable('`sslrootcert` needs sslmode=verify-full');
    const mayPrepare = read.get('prepare') !== 'false';
    return new StoreAddress(
      list,
      socketFolder,
      decode(database) ?? '',
      user === '' ? undefined : user,
      tls,
      rootCertificate,
      mayPrepare,
      read.get('notify') !== 'false',
      password === '' ? undefined : password,
    );
  }

  get hasPassword(): boolean {
    return this.#password !== undefined;
  }

  /** Calls the function with the password. Only the driver needs it. */
  withPassword<Result>(use: (password: string | undefined) => Result): Result {
    return use(this.#password);
  }

  /** Removes the password from a text of the server or of the driver. */
  mask(text: string): string {
    if (this.#password === undefined) return text;
    return text.replaceAll(this.#password, '***').replaceAll(encodeURIComponent(this.#password), '***');
  }

  /** The hosts with their ports, or the folder of the socket. */
  get place(): string {
    if (this.socketFolder !== undefined) return this.socketFolder;
    return this.hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
  }

  /** Returns the address without its password. */
  toString(): string {
    const user = this.user === undefined ? '' : `${encodeURIComponent(this.user)}${this.hasPassword ? ':***' : ''}@`;
    const database = encodeURIComponent(this.database);
    if (this.socketFolder !== undefined) return `postgres://${user}/${database}?host=${this.socketFolder}`;
    return `postgres://${user}${this.place}/${database}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** An address; or a function that reads it, because its password may change while a program runs. */
export type GivenAddress = string | StoreAddress | (() => string);

/** Returns a function that reads the address as it is now. **Errors** — of that function: `E_STORE_ADDRESS`. */
export function addressReader(given: GivenAddress): () => StoreAddress {
  if (typeof given === 'function') return () => StoreAddress.parse(given());
  const address = typeof given === 'string' ? StoreAddress.parse(given) : given;
  return () => address;
}

function readSettings(text: string): ReadonlyMap<string, string> {
  const read = new Map(new URLSearchParams(text));
  for (const name of read.keys()) {
    if (!SETTINGS.includes(name))
      throw unusable(`It has an unknown setting ${JSON.stringify(name)}; known are ${SETTINGS.join(', ')}`);
  }
  refuseOther(read, 'sslmode', TLS_MODES);
  refuseOther(read, 'target_session_attrs', SESSIONS);
  for (const name of ['notify', 'prepare']) refuseOther(read, name, ['true', 'false']);
  return read;
}

function refuseOther(read: ReadonlyMap<string, string>, name: string, values: readonly string[]): void {
  const value = read.get(name);
  if (value !== undefined && !values.includes(value))
    throw unusable(`The setting \`${name}\` has an unknown value; known are ${values.join(', ')}`);
}

function readHost(text: string): StoreHost {
  const { six, name, port } = HOST.exec(text)?.groups ?? {};
  const host = six ?? name;
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (host === undefined || number < 1 || number > 65_535) throw unusable('A host of it cannot be read');
  return { host, port: number };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function decode(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw unusable('A part of it has a percent sign that begins no escape; write %25 for the sign');
  }
}

function unusable(problem: string): GoondanError {
  return new GoondanError('E_STORE_ADDRESS', `The address of the store cannot be used. ${problem}.`);
}
