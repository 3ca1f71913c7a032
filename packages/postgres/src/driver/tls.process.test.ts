import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { makeCertificate } from '../../../runtime/src/orchestrator/control/make-certificate.ts';
import { isRoot, NOBODY } from '../embedded/reachable-programs.ts';
import { type Server, startServer } from '../embedded/start-server.ts';
import { serverFolders } from '../testing/server-folders.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { afterAll, beforeAll, describe, expect, test, testMajor } from '../testing/with-postgres.ts';
import { type Database, openDatabase } from './database.ts';

const PASSWORD = 'hush % hush';
const folder = mkdtempSync(join(serverFolders(), 'gdn-pg-'));
const files = {
  certificate: join(folder, 'server.crt'),
  key: join(folder, 'server.key'),
  other: join(folder, 'other'),
};
let server: Server;

beforeAll(async () => {
  const { certificate, key } = makeCertificate('localhost', new Date());
  writeFileSync(files.certificate, certificate);
  writeFileSync(files.other, makeCertificate('localhost', new Date()).certificate);
  writeFileSync(files.key, key, { mode: 0o600 });
  if (isRoot()) for (const path of Object.values(files)) chownSync(path, NOBODY, NOBODY);
  const settings = { fsync: 'off', ssl: 'on', ssl_cert_file: files.certificate, ssl_key_file: files.key };
  server = await startServer({ folder, major: testMajor, password: PASSWORD, settings });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Asks the server whether the connection is encrypted. Returns the code of the error if it refuses. */
async function ask(address: string): Promise<unknown> {
  let database: Database | undefined;
  try {
    database = openDatabase(address, { connections: 1 });
    const [row] = await database.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return row?.ssl;
  } catch (error) {
    expect(Bun.inspect(error)).not.toContain('hush');
    return GoondanError.is(error) ? error.code : error;
  } finally {
    await database?.close();
  }
}

const at = (host: string, settings: string, password = PASSWORD) =>
  `postgres://postgres:${encodeURIComponent(password)}@${host}:${server.port}/postgres?${settings}`;

describe('a connection to the database', () => {
  test.each([
    ['disable', false],
    ['prefer', true],
    ['require', true],
  ])('with sslmode=%s is encrypted: %p', async (mode, isEncrypted) => {
    expect(await ask(at('127.0.0.1', `sslmode=${mode}`))).toBe(isEncrypted);
  });

  test('with sslmode=verify-full is made to the host that a trusted certificate names', async () => {
    expect(await ask(at('localhost', `sslmode=verify-full&sslrootcert=${files.certificate}`))).toBe(true);
  });

  test.each([
    ['another name', '127.0.0.1', `&sslrootcert=${files.certificate}`],
    ['an issuer that is not in sslrootcert', 'localhost', `&sslrootcert=${files.other}`],
    ['an issuer that the system does not know', 'localhost', ''],
  ])('with sslmode=verify-full is refused for a certificate with %s, and not repeated', async (_, host, more) => {
    expect(await ask(at(host, `sslmode=verify-full${more}`))).toBe('E_STORE_ADDRESS');
  });

  test('is refused with a code if the file of sslrootcert cannot be read', async () => {
    expect(await ask(at('localhost', 'sslmode=verify-full&sslrootcert=/hush/none.pem'))).toBe('E_STORE_ADDRESS');
  });

  test('with sslmode=require is refused by a server without TLS; with prefer it is made', async () => {
    const made = await makeTestDatabase({ hasTables: false });
    expect(await ask(`${made.address}?sslmode=require`)).toBe('E_STORE_ADDRESS');
    expect(await ask(`${made.address}?sslmode=prefer`)).toBe(false);
    await made.drop();
  });

  test('S-06 is refused for a wrong password, without a password in the error', async () => {
    expect(await ask(at('127.0.0.1', 'sslmode=require', 'hush, wrong'))).toBe('E_STORE_ADDRESS');
  });
});
