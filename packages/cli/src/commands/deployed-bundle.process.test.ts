// Tests commands whose folder has another bundle than the deployed one, and files that are never deployed.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../../postgres/src/driver/database.ts';
import { dumpDatabase } from '../../../postgres/src/testing/dump-database.ts';
import { makeTestDatabase, type TestDatabase } from '../../../postgres/src/testing/test-database.ts';
import { afterAll, beforeAll, describe, expect, test } from '../../../postgres/src/testing/with-postgres.ts';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

const TOKEN = 'only-the-nodes-of-a-test-know-this-token-0123456789';
const place = openPlace(afterAll);
let database: TestDatabase;
let env: Record<string, string>;

beforeAll(async () => {
  database = await makeTestDatabase({ hasTables: false });
  env = { GOONDAN_STORE: database.address, GOONDAN_CLUSTER_TOKEN: TOKEN };
  for (const name of ['old', 'new'])
    await place.write(name, { 'goondan.yaml': sampleBundle({ script: `- { say: '${name}: {{input}}' }` }) });
  mkdirSync(join(place.folder, 'empty'));
  expect(await gdn('store', 'init')).toMatchObject({ exitCode: 0 });
});
afterAll(() => database.drop());

const gdn = (...args: string[]) => place.runWith({ env }, ...args);
const ask = (folder: string) => gdn('run', folder, '--trust', '--input', 'Hello', '--node', 'one');

describe('S-09 the deployed bundle', () => {
  test('is that of the first start, and runs in a node with another folder, which says so', async () => {
    expect(await ask('old')).toMatchObject({ stdout: 'old: Hello\n', exitCode: 0 });
    expect(await gdn('deploy', 'new')).toMatchObject({ exitCode: 0 });
    const other = await ask('old');
    expect(other).toMatchObject({ stdout: 'new: Hello\n', exitCode: 0 });
    expect(other.stderr).toContain('The folder of node "one" has bundle ');
    expect(await ask('new')).toMatchObject({ stdout: 'new: Hello\n', stderr: '', exitCode: 0 });
  });

  test('is replaced with --expect only if it is the expected one', async () => {
    const deployed = JSON.parse((await gdn('deploy', 'new', '--json')).stdout) as { readonly digest: string };
    const other = await gdn('deploy', 'old', '--expect', '0123456789ab');
    expect(other).toMatchObject({ stdout: '', exitCode: 3 });
    expect(other.stderr).toContain(
      `E_DEPLOY_CONFLICT: Bundle 0123456789ab is expected, and ${deployed.digest.slice(0, 12)}`,
    );
    expect(await gdn('deploy', 'old', '--expect', 'short')).toMatchObject({ exitCode: 2 });
    expect(await gdn('deploy', 'old', '--expect', deployed.digest.slice(0, 12))).toMatchObject({ exitCode: 0 });
    // It is deployed already, so nothing is replaced.
    expect(await gdn('deploy', 'old', '--expect', deployed.digest)).toMatchObject({ exitCode: 0 });
    expect(await gdn('deploy', 'new')).toMatchObject({ exitCode: 0 });
  });

  test('answers for a folder with another bundle while a node runs it, with a warning', async () => {
    await place.serveWith({ env }, 'new');
    const other = await ask('old');
    expect(other).toMatchObject({ stdout: 'new: Hello\n', exitCode: 0 });
    expect(other.stderr).toContain('/old has another bundle than the deployed one, which answers. `gdn deploy old`');
    expect(await ask('new')).toMatchObject({ stdout: 'new: Hello\n', stderr: '' });
    expect(await gdn('stop', '--bundle', 'new')).toMatchObject({ exitCode: 0 });
  });

  test('runs in a folder without a bundle, by the name of its swarm', async () => {
    const cwd = join(place.folder, 'empty');
    const args = ['run', '--swarm', 'default', '--trust', '--input', 'Hello', '--node', 'one'];
    expect(await place.runWith({ env, cwd }, ...args)).toMatchObject({ stdout: 'new: Hello\n', exitCode: 0 });
  });
});

describe('S-06 a bundle folder with the secrets of the cluster', () => {
  const PASSWORD = 'hush-hush 1';
  const yaml = sampleBundle().replace('name: default', 'name: secrets');
  const encoded = (text: string) => Buffer.from(text).toString('base64');

  test('is deployed without the files that name them, by a node and by gdn deploy', async () => {
    const address = new URL(database.address);
    address.password = PASSWORD;
    const files = { 'store.txt': `${address.href}\n`, 'token.txt': `${TOKEN}\n`, '.npmrc': '_authToken=npm-secret\n' };
    const cwd = await place.write('secrets', { 'goondan.yaml': yaml, ...files });
    for (const name of Object.keys(files)) chmodSync(join(cwd, name), 0o600);
    const named = { GOONDAN_STORE: '@store.txt', GOONDAN_CLUSTER_TOKEN: '@token.txt' };
    const first = await place.runWith({ env: named, cwd }, 'run', '--trust', '--input', 'Hello', '--node', 'two');
    expect(first).toMatchObject({ stdout: 'You said: Hello\n', exitCode: 0 });
    await place.write('secrets', { 'more.txt': 'more' });
    const typed = { ...named, GOONDAN_STORE: undefined };
    expect(await place.runWith({ env: typed, cwd }, 'deploy', '--store', '@store.txt')).toMatchObject({ exitCode: 0 });
    await place.write('secrets', { 'notes/todo.txt': `Use ${PASSWORD} here.` });
    const refused = await place.runWith({ env: named, cwd }, 'deploy');
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain('E_BUNDLE_SECRET: notes/todo.txt contains the token');
    expect(refused.stderr).not.toContain(PASSWORD);

    const rows = openDatabase(database.address, { connections: 1 });
    const packed = await rows.query<{ bytes: Uint8Array }>("select bytes from gdn_bundle where swarm = 'secrets'");
    const texts = packed.map(({ bytes }) => new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(bytes))));
    expect(texts).toHaveLength(2);
    expect(texts.filter((text) => text.includes(encoded('more')))).toHaveLength(1);
    for (const [name, text] of Object.entries(files))
      for (const pack of texts) for (const secret of [name, encoded(text)]) expect(pack).not.toContain(secret);
    expect(await dumpDatabase(rows)).not.toContain(TOKEN);
    await rows.close();
  });
});
