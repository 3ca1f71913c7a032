/** A PostgreSQL server of one test, which the test kills and starts again with the same data at the same port. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, startServer } from '../../packages/postgres/src/embedded/start-server.ts';
import { serverFolders } from '../../packages/postgres/src/testing/server-folders.ts';

export interface OwnDatabase extends AsyncDisposable {
  /** The address of an empty database. */
  readonly address: string;
  readonly port: number;
  /** Ends the server with SIGKILL, as a crash of its machine. */
  kill(): Promise<void>;
  /** Starts the killed server again. It recovers from its log. */
  start(): Promise<void>;
  /** The first process of the server. */
  readonly pid: number;
}

export async function startOwnDatabase(settings: Readonly<Record<string, string>> = {}): Promise<OwnDatabase> {
  const folder = mkdtempSync(join(serverFolders(), 'goondan-database-'));
  // A killed server leaves its shared memory. With `mmap` it is in the folder, which is removed.
  const all = { max_connections: '300', dynamic_shared_memory_type: 'mmap', ...settings };
  let server: Server = await startServer({ folder, settings: all });
  const { port } = server;
  return {
    address: server.addressOf('postgres'),
    port,
    get pid() {
      return server.pid;
    },
    async kill() {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
    },
    async start() {
      server = await startServer({ folder, port, settings: all });
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
