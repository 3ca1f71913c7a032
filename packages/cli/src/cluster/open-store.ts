/** The store of swarms on many machines, as commands use it. Only this file and `gdn cluster dev` load PostgreSQL. */
import {
  addToken,
  checkNewToken,
  checkSchema,
  drainNode,
  type ImportedFiles,
  importFiles,
  type ImportOptions,
  type ImportResult,
  type ListedToken,
  listNodes,
  listTokens,
  makeTables,
  openDatabase,
  openPostgresQuestions,
  openSwarms,
  PostgresDeployments,
  postgresSource,
  postgresTokens,
  readersOf,
  readStatus,
  removeToken,
  readVersion,
  type StoreStatus,
  channelOf,
} from '@goondan/postgres';
import type {
  ClusterNode,
  ClusterSource,
  Deployments,
  StoredQuestions,
  StoreReader,
  SwarmList,
  Tokens,
  TokenScope,
} from '@goondan/runtime/history';
import type { GoondanError } from '@goondan/types';

export interface OpenedStore {
  readonly swarms: SwarmList;
  /** Returns the readers of a swarm. Their `close` does nothing: they share the connections of the store. */
  reader(swarm: string): StoreReader;
  /** Opens the questions of a swarm, without a node. Close them after use. `report` gets each row that is not a question. */
  questions(swarm: string, report?: (problem: GoondanError) => void): Promise<StoredQuestions>;
  /** Lists the living nodes of a swarm, the least loaded first. */
  nodes(swarm: string): Promise<readonly ClusterNode[]>;
  /** Asks a node to give up its instances. **Errors** — `E_NODE_UNKNOWN`. */
  drain(swarm: string, node: string): Promise<void>;
  readonly tokens: StoredTokens;
  deployments(swarm: string): Pick<Deployments, 'current' | 'read' | 'put'>;
  /** Returns the way of a node to its swarm, with connections of its own. */
  source(swarm: string, options: { readonly leaseMs: number }): ClusterSource;
  /** Copies a stopped swarm on files. **Errors** — those of `importFiles` of `@goondan/postgres`. */
  importFiles(files: ImportedFiles, swarm: string, options: ImportOptions): Promise<ImportResult>;
  /** Works also for a database without tables. */
  status(): Promise<StoreStatus>;
  /** Returns the version of the tables; 0 when there are none. */
  version(): Promise<number>;
  /** **Errors** — `E_STORE_SCHEMA` when the tables do not have the version of this program. */
  checkVersion(): Promise<void>;
  /** Makes the tables, unless there are some. **Errors** — `E_STORE_SCHEMA` when these have another version. */
  makeTables(): Promise<void>;
  close(): Promise<void>;
}

export interface StoredTokens extends Tokens {
  /** Adds a token, which is made if none is given, and returns it. **Errors** — `E_CLUSTER_TOKEN`. */
  add(name: string, scope: TokenScope, token?: string): Promise<string>;
  /** Checks the name and the token before they are added. **Errors** — `E_CLUSTER_TOKEN`. */
  checkNew(name: string, token?: string): void;
  list(): Promise<readonly ListedToken[]>;
  /** Returns false if there is no token with this name. **Errors** — those of `removeToken` of `@goondan/postgres`. */
  remove(name: string, force?: boolean): Promise<boolean>;
}

/** A command sends few statements at a time. */
const CONNECTIONS = 4;
/** A command does not repeat its statements, and may read or import a large conversation. */
const STATEMENT_MS = 30_000;

/**
 * Opens a store for a command, whose name the database sees. The address is read at each connect. Nothing is connected before
 * the first question. **Errors** — `E_STORE_ADDRESS`.
 */
export function openStore(address: () => string, command: string): OpenedStore {
  const connecting = { connections: CONNECTIONS, statementMs: STATEMENT_MS, name: command };
  // A statement of a command is not repeated, so nobody waits for one that is late.
  const database = openDatabase(address, { ...connecting, mostTimes: 1 });
  return {
    swarms: openSwarms(database),
    reader: (swarm) => ({ ...readersOf(database, swarm), close: async () => undefined }),
    questions: (swarm, report) => openPostgresQuestions({ address, swarm, name: command, ...(report && { report }) }),
    nodes: async (swarm) => (await listNodes({ database, swarm })).toSorted((one, other) => one.load - other.load),
    drain: (swarm, node) => drainNode({ database, swarm, channel: channelOf(swarm) }, node),
    tokens: {
      ...postgresTokens(database),
      add: (name, scope, token) => addToken(database, { name, scope, ...(token === undefined ? {} : { token }) }),
      checkNew: (name, token) => void checkNewToken({ name, ...(token === undefined ? {} : { token }) }),
      list: () => listTokens(database),
      remove: (name, force) => removeToken(database, name, force),
    },
    deployments: (swarm) => new PostgresDeployments({ database, swarm, channel: channelOf(swarm) }),
    source: (swarm, options) => postgresSource({ ...options, address, swarm }),
    async importFiles(files, swarm, options) {
      const patient = openDatabase(address, connecting);
      try {
        return await importFiles(files, patient, swarm, options);
      } finally {
        await patient.close();
      }
    },
    status: () => readStatus(database),
    version: () => readVersion(database),
    checkVersion: () => checkSchema(database),
    makeTables: () => makeTables(database),
    close: () => database.close(),
  };
}
