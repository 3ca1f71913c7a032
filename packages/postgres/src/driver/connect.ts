import { readFileSync } from 'node:fs';
import { SQL } from 'bun';
import { GoondanError } from '@goondan/types';
import type { StoreAddress, TlsMode } from './address.ts';

export interface ConnectOptions {
  /** The number of the host in the address. */
  readonly host: number;
  /** The most connections at a time. */
  readonly connections: number;
  /** The time in which a connection is made. */
  readonly connectMs: number;
  /** The time after which the server ends a statement that nobody waits for any more; absent: none. */
  readonly abandonedMs?: number;
  /** The program, as `pg_stat_activity` shows it after `goondan`. */
  readonly name?: string;
  /** Called when a connection closes, or cannot be made. */
  readonly onClosed: () => void;
}

/** Opens a pool of connections to one host of an address. Nothing is connected before the first statement. */
export function connect(
  address: StoreAddress,
  { host: number, connections, connectMs, abandonedMs, name, onClosed }: ConnectOptions,
): SQL {
  const { hosts, socketFolder, database, user, tls, rootCertificate, mayPrepare } = address;
  const host = hosts[number % Math.max(1, hosts.length)];
  return address.withPassword(
    (password) =>
      new SQL({
        adapter: 'postgres',
        ...(host && { hostname: host.host, port: host.port, tls: secured(tls, rootCertificate) }),
        ...(socketFolder !== undefined && { path: socketFolder }),
        database,
        ...(user !== undefined && { username: user }),
        ...(password !== undefined && { password }),
        max: connections,
        connectionTimeout: connectMs / 1000,
        prepare: mayPrepare,
        bigint: true,
        connection: {
          application_name: name === undefined ? 'goondan' : `goondan ${name}`,
          // A pooler refuses settings that it does not know.
          ...(mayPrepare && abandonedMs !== undefined && { statement_timeout: String(abandonedMs) }),
        },
        onclose: onClosed,
      }),
  );
}

/** `verify-full` checks the certificate and the name of the host; the other modes only encrypt. */
function secured(tls: TlsMode, rootCertificate: string | undefined): TlsMode | { readonly ca: string } {
  if (tls !== 'verify-full' || rootCertificate === undefined) return tls;
  try {
    return { ca: readFileSync(rootCertificate, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new GoondanError('E_STORE_ADDRESS', `The file of \`sslrootcert\` cannot be read (${code}).`, {
      suggestion: 'Correct the path in `sslrootcert` of the address.',
    });
  }
}
