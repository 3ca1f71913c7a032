// Tests that tokens of MCP servers do not reach the database of a swarm, although the server repeats them everywhere.
import { afterAll, expect, test } from './testing/with-postgres.ts';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { guardedBundle } from '../../base/src/extensions/mcp/testing/guarded-bundle.ts';
import { GuardedServer } from '../../base/src/extensions/mcp/testing/guarded-server.ts';
import { signInAsPerson } from '../../base/src/extensions/mcp/testing/sign-in-as-person.ts';
import { startOrchestrator } from '../../runtime/src/orchestrator/start-orchestrator.ts';
import { postgresSource } from './cluster-source.ts';
import { addToken } from './nodes/tokens.ts';
import { dumpDatabase } from './testing/dump-database.ts';
import { openTestDatabase } from './testing/test-database.ts';
import { temporaryFolder } from '../../../test/temporary-folder.ts';

const { address, database } = await openTestDatabase();
const folder = temporaryFolder();
const server = new GuardedServer();
afterAll(() => server.stop());

test('N-01 no token of a sign-in is in PostgreSQL', async () => {
  const [bundleFolder, stateRoot] = [join(folder, 'bundle'), join(folder, 'state')];
  mkdirSync(bundleFolder);
  writeFileSync(join(bundleFolder, 'goondan.yaml'), guardedBundle(server.url));
  const { plan } = resolveSwarm(await loadBundle(bundleFolder, { environment: {} }), {
    environment: {},
    workdir: bundleFolder,
  });
  const token = await addToken(database, { name: 'node', scope: 'operate' });
  const swarm = await startOrchestrator({
    plan,
    stateRoot,
    workspaceId: 'node',
    cluster: { source: postgresSource({ address, swarm: 'tokens' }), node: 'one', token },
  });
  const askAll = async (input: string) => {
    const answers = await Promise.all(['plain', 'kept', 'shared'].map((agent) => swarm.ask({ agent, input })));
    return answers.map((answer) => JSON.stringify(answer));
  };
  /** Declines the sign-in that each agent asks a person for. */
  const askDeclined = async (input: string) => {
    const over = { is: false };
    const asked = askAll(input).finally(() => (over.is = true));
    while (!over.is) {
      for (const { id, digest } of await swarm.questions())
        await swarm.answer({ id, digest, decision: 'denied', by: 'ann' });
      await Bun.sleep(20);
    }
    return asked;
  };
  try {
    await askAll('look');
    await signInAsPerson({ url: server.url, bundleFolder, stateRoot });
    for (const answer of await askAll('look')) expect(answer).toContain('look with ***');
    server.expireAccess();
    for (const answer of await askAll('look')) expect(answer).toContain('look with ***');
    for (const answer of await askDeclined('write')) expect(answer).toContain('E_MCP_SIGN_IN');
    await askAll('fail');
    const dump = await dumpDatabase(database);
    expect(dump).toContain('look with ***');
    expect([...server.secrets].filter(([, secret]) => dump.includes(secret))).toEqual([]);
    expect(readdirSync(join(stateRoot, 'mcp')).length).toBeGreaterThan(0);
  } finally {
    await swarm.stop({ graceMs: 1_000 });
  }
}, 60_000);
