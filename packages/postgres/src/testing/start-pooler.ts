/** PgBouncer in transaction mode: each statement may get another connection to the server, and LISTEN hears nothing. */
import { spawn } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { asUser, isRoot, NOBODY } from '../embedded/reachable-programs.ts';
import { endWithThisProcess } from '../embedded/start-server.ts';

/** Debian installs it where the path of a user may not lead. */
export const pgbouncer = Bun.which('pgbouncer', { PATH: `${process.env['PATH']}:/usr/sbin` });

export interface Pooler {
  readonly port: number;
}

/** Starts a pooler for the server at this port, with its files in this folder, which is removed after this process. */
export async function startPooler(serverPort: number, folder: string): Promise<Pooler> {
  if (pgbouncer === null) throw new Error('PgBouncer is not installed.');
  const port = await freePort();
  const path = join(folder, 'pgbouncer.ini');
  writeFileSync(
    path,
    `[databases]
* = host=127.0.0.1 port=${serverPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_round_robin = 1
max_client_conn = 500
`,
  );
  if (isRoot()) for (const owned of [folder, path]) chownSync(owned, NOBODY, NOBODY);
  const [program, ...args] = [...asUser(), pgbouncer, '-q', path];
  const child = spawn(program, args, { stdio: 'ignore', cwd: '/' });
  endWithThisProcess(child.pid, folder);
  return { port };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => void probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => void probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
