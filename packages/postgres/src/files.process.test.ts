// Tests images and files of a swarm in PostgreSQL: imported from files, sent to a node, read by its agent processes.
import { expect, test } from './testing/with-postgres.ts';
import { join } from 'node:path';
import { startSwarm, type Swarm } from '@goondan/runtime';
import { testInProof } from '../../../test/samples.ts';
import { fileReferenceOf } from '@goondan/types';
import { openaiWire } from '../../runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { startOrchestrator } from '../../runtime/src/orchestrator/start-orchestrator.ts';
import { sha256 } from '../../runtime/src/json/sha256.ts';
import { postgresSource } from './cluster-source.ts';
import { addToken } from './nodes/tokens.ts';
import { importFiles } from './store/import-files.ts';
import { dumpDatabase } from './testing/dump-database.ts';
import { openTestDatabase } from './testing/test-database.ts';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { until } from '../../../test/until.ts';

const { address, database } = await openTestDatabase();
const stateRoot = temporaryFolder();

/** A picture that is longer than a piece of the channel and of the table. */
const pictureOf = (word: string) =>
  Buffer.concat([Buffer.from('iVBORw0KGgoAAAAN', 'base64'), Buffer.alloc(1_200_000, `the ${word} of the bytes `)]);
const partOf = (image: Buffer, filename: string) => ({ type: 'image' as const, image, filename });
const reply = { reply: { text: ['ok'], usage: { input: 1, output: 1, cached: 0 } } };

async function stored(): Promise<readonly string[]> {
  const rows = await database.query<{ readonly digest: string }>('select digest from gdn_blob order by digest');
  return rows.map(({ digest }) => digest);
}

test('Y-02 S-01 files of a swarm in PostgreSQL', async () => {
  await using server = startWireServer(openaiWire);
  server.answer(reply, reply, reply, reply);
  const model = { provider: 'openai-compatible', model: 'local', endpoint: `${server.url}/v1` };
  const agents = [{ agentName: 'painter', models: { 'Model/real': model } }];
  const plan = { name: 'studio', agents, policy: { spares: 0 } };
  const [cat, dog] = [pictureOf('cat'), pictureOf('dog')];

  const files = await startSwarm({ ...plan, workspace: 'studio', stateRoot });
  await files.ask({ input: 'look', content: [partOf(cat, 'cat.png')] });
  await files.stop();
  const imported = await importFiles({ stateRoot, workspaceId: 'studio' }, database, 'studio');
  expect(imported).toMatchObject({ imported: 1, problems: [] });
  expect(await stored()).toEqual([sha256(cat)]);

  const token = await addToken(database, { name: 'node', scope: 'operate' });
  const swarm: Swarm = await startOrchestrator({
    plan,
    stateRoot: join(stateRoot, 'node'),
    workspaceId: 'node',
    cluster: { source: postgresSource({ address, swarm: 'studio' }), node: 'one', token },
  });
  try {
    // The process of the node reads the imported bytes over its channel.
    await swarm.ask({ input: 'and now?' });
    await swarm.ask({ input: 'look', instanceKey: 'other', content: [partOf(dog, 'dog.png'), partOf(cat, 'cat.png')] });
    const sent = server.requests.map(({ body }) => JSON.stringify(body));
    const has = (text: string | undefined, picture: Buffer) => text?.includes(picture.toString('base64')) === true;
    expect([has(sent[0], cat), has(sent[1], cat), has(sent[2], cat), has(sent[2], dog)]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(await stored()).toEqual([sha256(cat), sha256(dog)].toSorted());

    const rows = (await dumpDatabase(database)).split(/\n(?=gdn_)/);
    const dump = rows.filter((row) => !row.startsWith('gdn_blob_piece\t'));
    for (const picture of [cat, dog]) {
      const canaries = [picture.toString('base64').slice(2_000, 2_100), 'of the bytes the'];
      expect(dump.filter((line) => canaries.some((canary) => line.includes(canary)))).toEqual([]);
      expect(dump.some((line) => line.includes(fileReferenceOf(sha256(picture))))).toBe(true);
    }

    const painter = { agent: 'painter', instanceKey: 'default' };
    await swarm.forkInstance({ ...painter, as: 'fork' });
    await swarm.deleteInstance({ ...painter, instanceKey: 'other' });
    await swarm.deleteInstance(painter);
    expect(await stored()).toEqual([sha256(cat)]);
    const tooLarge = swarm.deliver({ input: 'look', content: [partOf(Buffer.alloc(20_971_521), 'big.png')] });
    expect(await tooLarge.catch((error: unknown) => error)).toMatchObject({ code: 'E_FILE_SIZE' });
    expect(await stored()).toEqual([sha256(cat)]);
  } finally {
    await swarm.stop({ graceMs: 1_000 });
  }
}, 60_000);

testInProof(
  'Y-02 S-01 a file that one node accepts is read by the node that runs the turn',
  async () => {
    await using server = startWireServer(openaiWire);
    server.answer(reply, reply);
    const model = { provider: 'openai-compatible', model: 'local', endpoint: `${server.url}/v1` };
    const agents = [{ agentName: 'painter', models: { 'Model/real': model } }];
    const plan = { name: 'two', agents, policy: { spares: 0 } };
    const token = await addToken(database, { name: 'two', scope: 'operate' });
    const start = (node: string) =>
      startOrchestrator({
        plan,
        stateRoot: join(stateRoot, node),
        workspaceId: node,
        cluster: { source: postgresSource({ address, swarm: 'two' }), node, token },
      });
    const [accepts, runs]: Swarm[] = [await start('accepts'), await start('runs')];
    try {
      // The second node owns the conversation from now on.
      await runs?.ask({ input: 'hello' });
      const cow = pictureOf('cow');
      await accepts?.deliver({ input: 'look', content: [partOf(cow, 'cow.png')] });
      await until(() => server.requests.length >= 2);
      expect(JSON.stringify(server.requests[1]?.body).includes(cow.toString('base64'))).toBe(true);
      expect((await accepts?.instances())?.map(({ node }) => node)).toEqual(['runs']);
    } finally {
      for (const swarm of [accepts, runs]) await swarm?.stop({ graceMs: 1_000 });
    }
  },
  60_000,
);
