/**
 * The way of a command to a store that many nodes share. Nothing is loaded and no connection is opened before `open`,
 * because most commands work on files.
 */
import { resolve } from 'node:path';
import { needClusterToken } from './cluster-token.ts';
import type { OpenedStore } from './open-store.ts';
import { placeOf, showAddress, storeAddressReader } from './store-address.ts';

export interface ClusterAccess {
  /** The address for people, without a password. */
  readonly shown: string;
  /** The server and the database, which tell stores apart: without user, password and settings. */
  readonly place: string;
  /** The value of `--store`, for suggested commands; absent when the address is that of `GOONDAN_STORE`. */
  readonly typed?: string;
  /** The address with its password, and the files from which the address and the token come. They are never deployed. */
  readonly secrets: { readonly address: string; readonly files: readonly string[] };
  /** Returns the token for the nodes. **Errors** — `E_CLUSTER_TOKEN`. */
  token(): string;
  /**
   * Opens the store. All callers share it until `close`, after which it can be opened again. **Errors** — `E_STORE_ADDRESS`, `E_STORE_AWAY`,
   * `E_STORE_SCHEMA`.
   */
  open(): Promise<OpenedStore>;
  /** Like `open`, but also for a database without the tables of this version. */
  openAny(): Promise<OpenedStore>;
  close(): Promise<void>;
}

/**
 * Returns the access to the store that `--store` or `GOONDAN_STORE` names; `undefined` when the swarm is on files. `command`:
 * how people type the command.
 *
 * **Errors** — `E_STORE_ADDRESS`.
 */
export function readClusterAccess(
  typed: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  command: string,
): ClusterAccess | undefined {
  const readAddress = storeAddressReader(typed, environment);
  if (readAddress === undefined) return undefined;
  const address = readAddress();
  let opened: Promise<OpenedStore> | undefined;
  let checked: Promise<OpenedStore> | undefined;
  const openAny = () => (opened ??= import('./open-store.ts').then(({ openStore }) => openStore(readAddress, command)));
  const check = async () => {
    const store = await openAny();
    await store.checkVersion();
    return store;
  };
  return {
    shown: showAddress(address),
    place: placeOf(address),
    ...(typed === undefined ? {} : { typed }),
    secrets: { address, files: filesOf([typed, environment['GOONDAN_STORE'], environment['GOONDAN_CLUSTER_TOKEN']]) },
    token: () => needClusterToken(environment),
    open: () => (checked ??= check()),
    openAny,
    async close() {
      const closing = opened;
      opened = undefined;
      checked = undefined;
      await (await closing?.catch(() => undefined))?.close();
    },
  };
}

/** The paths of those values that are `@` and a path. */
function filesOf(values: readonly (string | undefined)[]): readonly string[] {
  return values.flatMap((value) => (value?.startsWith('@') === true ? [resolve(value.slice(1))] : []));
}
