// Runs the client of a node in Node, whose sockets differ from those of Bun.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type FakeNode, serveFakeNode } from '../testing/serve-fake-node.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { until } from '../../../../test/until.ts';

setDefaultTimeout(60_000);

const folder = temporaryFolder();
let node: FakeNode;

beforeAll(async () => {
  node = serveFakeNode();
  const entrypoints = [join(import.meta.dir, '..', 'control.ts')];
  await Bun.build({ entrypoints, outdir: folder, target: 'node', format: 'esm', naming: 'control.mjs' });
});

afterAll(() => node.close());

const program = `
import { connectNode } from './control.mjs';
const place = JSON.parse(process.env.PLACE);
const swarm = await connectNode(place);
const texts = [];
let watched;
const isWatched = new Promise((resolve) => (watched = resolve));
const watch = await swarm.watch({}, ({ delta }) => {
  texts.push(delta.text);
  watched();
});
const end = await swarm.ask({ id: 'e1', input: 'Grüße' }, { onNotice: ({ delta }) => texts.push(delta.text) });
await isWatched;
watch.end();
await watch.ended;
const foreign = await connectNode({ ...place, certificate: '0'.repeat(64) }).catch(({ code }) => code);
const wrong = await connectNode({ ...place, token: 'wrong' }).catch(({ code }) => code);
console.log(JSON.stringify({ eventId: end.eventId, texts, foreign, wrong }));
`;

describe('a Node program', () => {
  test('S-08 asks and watches a node, and refuses a foreign certificate', async () => {
    await Bun.write(join(folder, 'program.mjs'), program);
    const { address, certificate } = node.port;
    const running = Bun.spawn(['node', 'program.mjs'], {
      cwd: folder,
      env: { ...process.env, PLACE: JSON.stringify({ address, certificate, token: 'operate' }) },
      stderr: 'pipe',
    });
    await until(() => node.swarm.running.length === 1 && node.swarm.watching === 1);
    const text = 'ü'.repeat(100_000);
    const step = { turnId: 'turn-e1', stepId: 's1', stepIndex: 0 };
    node.swarm.tell({
      type: 'delta',
      at: { agent: 'entry', instanceKey: 'default' },
      eventId: 'e1',
      delta: { type: 'text', text, ...step },
    });
    node.swarm.finish('e1', 'Done.');
    const [output, errors] = await Promise.all([
      new Response(running.stdout).text(),
      new Response(running.stderr).text(),
    ]);
    expect(errors).toBe('');
    expect(JSON.parse(output)).toEqual({
      eventId: 'e1',
      texts: [text, text],
      foreign: 'E_CLUSTER_CERTIFICATE',
      wrong: 'E_CLUSTER_TOKEN',
    });
    expect(node.swarm.calls.find(([name]) => name === 'ask')).toEqual(['ask', { id: 'e1', input: 'Grüße' }]);
  });
});
