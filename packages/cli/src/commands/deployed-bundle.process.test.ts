// Tests commands whose folder has another bundle than the deployed one, and files that are never deployed.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestDatabase, type TestDatabase } from '../../../postgres/src/testing/test-database.ts';
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from '../../../postgres/src/testing/with-postgres.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

setDefaultTimeout(60_000);

const TOKEN = 'only-the-nodes-of-a-test-know-this-token-0123456789';
const place = new GdnPlace();
let database: TestDatabase;
let env: Record<string, string>;

beforeAll(async () => {
  database = await makeTestDatabase({ migrated: false });
  env = { GOONDAN_STORE: database.address, GOONDAN_CLUSTER_TOKEN: TOKEN };
  for (const name of ['old', 'new'])
    await place.write(name, { 'goondan.yaml': sampleBundle({ script: `- { say: '${name}: {{input}}' }` }) });
  mkdirSync(join(place.folder, 'empty'));
  expect(await gdn('store', 'init')).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  await database.drop();
  expect(await place.remove()).toEqual([]);
});

const gdn = (...args: string[]) => place.runWith({ env }, ...args);
const ask = (folder: string) => gdn('run', folder, '--trust', '--input', 'Hello', '--node', 'one');

describe('S-09 the deployed bundle', () => {
  test('is that of the first start, and is not replaced by another folder while no node runs', async () => {
    expect(await ask('old')).toMatchObject({ stdout: 'old: Hello\n', exitCode: 0 });
    expect(await gdn('deploy', 'new')).toMatchObject({ exitCode: 0 });
    const { stdout, stderr, exitCode } = await ask('old');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect(stderr).toContain('E_DEPLOY_CONFLICT: The folder of node "one" has bundle ');
    for (const way of ['`gdn deploy old`', 'gdn run --swarm NAME', '`metadata.name` of its Swarm'])
      expect(stderr).toContain(way);
    expect(await ask('new')).toMatchObject({ stdout: 'new: Hello\n', exitCode: 0 });
  });

  test('runs in a folder without a bundle, by the name of its swarm', async () => {
    const cwd = join(place.folder, 'empty');
    const args = ['run', '--swarm', 'default', '--trust', '--input', 'Hello', '--node', 'one'];
    expect(await place.runWith({ env, cwd }, ...args)).toMatchObject({ stdout: 'new: Hello\n', exitCode: 0 });
  });
});
