// Tests images and files with real processes: large files, what the files of the workspace contain, and their life.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileReferenceOf, textOf } from '@goondan/types';
import { sampledCases, testInProof } from '../../../test/samples.ts';
import { openaiWire } from './agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from './agent/model/providers/wire/wire-server.ts';
import { connectSwarm } from './control/connect-swarm.ts';
import type { Swarm } from './control/swarm.ts';
import { sha256 } from './json/sha256.ts';
import { startSwarm } from './start-swarm.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';
import { until } from '../../../test/until.ts';

setDefaultTimeout(20_000);

const MEBIBYTE = 1_024 * 1_024;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function newStateRoot(): string {
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-files-'));
  cleanups.push(() => rmSync(stateRoot, { recursive: true, force: true }));
  return stateRoot;
}

const script = { script: [{ say: 'I see {{files}}.' }] };
const scripted = { 'Model/scripted': { provider: 'scripted', model: 'test', options: script } };

type Agents = Parameters<typeof startSwarm>[0] extends infer Options
  ? Extract<Options, { agents: unknown }>['agents']
  : never;

async function start(stateRoot: string, agents: Agents = [{ agentName: 'painter', models: scripted }]): Promise<Swarm> {
  const swarm = await startSwarm({ name: 'studio', agents, workspace: 'studio', stateRoot, policy: { spares: 0 } });
  cleanups.push(() => swarm.stop({ graceMs: 0 }));
  return swarm;
}

const folderOf = (stateRoot: string) => join(stateRoot, 'workspaces', 'studio');
const storedIn = (stateRoot: string) => {
  try {
    return readdirSync(join(folderOf(stateRoot), 'blobs', 'data'));
  } catch {
    return [];
  }
};

/** Lists the files of the workspace, except the stored bytes, that contain one of these texts. */
function filesWith(stateRoot: string, texts: readonly string[]): readonly string[] {
  const folder = folderOf(stateRoot);
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.startsWith(join(folder, 'blobs', 'data'))) return [];
    const bytes = readFileSync(path);
    return texts.some((text) => bytes.includes(text)) ? [path.slice(folder.length + 1)] : [];
  });
}

const bytesOf = (size: number, word = 'canary') => Buffer.alloc(size, `${word} of the bytes `);
const fileOf = (data: Uint8Array | string, filename = 'big.bin') => ({
  type: 'file' as const,
  data,
  mediaType: 'application/octet-stream',
  filename,
});

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('Y-02 a file of 20 MiB', () => {
  test('comes in through the handle and the control socket, is stored once, and is in no other file', async () => {
    const stateRoot = newStateRoot();
    const swarm = await start(stateRoot);
    const bytes = bytesOf(20 * MEBIBYTE);
    const client = await connectSwarm({ stateRoot, workspaceId: 'studio' });
    const [here, there] = [
      await swarm.ask({ input: 'look', content: [fileOf(bytes)] }),
      await client.ask({ input: 'look', instanceKey: 'other', content: [fileOf(bytes)] }),
    ];
    for (const { result } of [here, there]) {
      expect(textOf(result.responseMessage)).toBe('I see [file big.bin, 20 MB].');
    }
    expect(storedIn(stateRoot)).toEqual([sha256(bytes)]);
    const base64 = bytes.toString('base64');
    // Base64 of the canary, at each of the three places where it can begin.
    const canaries = [0, 1, 2].map((from) => base64.slice(40 + from * 4, 80 + from * 4));
    expect(filesWith(stateRoot, ['canary of the bytes', ...canaries])).toEqual([]);
    expect(filesWith(stateRoot, [fileReferenceOf(sha256(bytes))])).toContain(
      'instances/painter~other/messages/events.jsonl',
    );
  });

  test('with one byte more is refused with a code, and leaves nothing', async () => {
    const stateRoot = newStateRoot();
    const swarm = await start(stateRoot);
    const client = await connectSwarm({ stateRoot, workspaceId: 'studio' });
    const delivery = { input: 'look', content: [fileOf(bytesOf(20 * MEBIBYTE + 1))] };
    for (const door of [swarm, client]) {
      expect(await failure(door.deliver(delivery))).toMatchObject({
        code: 'E_FILE_SIZE',
        message: 'The file "big.bin" has 20971521 bytes; at most 20971520 are allowed.',
      });
    }
    const three = [1, 2, 3].map((index) => fileOf(bytesOf(14 * MEBIBYTE, `${index}`), `${index}.bin`));
    expect(await failure(client.deliver({ input: 'look', content: three }))).toMatchObject({ code: 'E_FILE_SIZE' });
    expect(storedIn(stateRoot)).toEqual([]);
    expect(await swarm.instances()).toEqual([]);
  });
});

test('Y-02 wrong files are refused with a code and the place', async () => {
  const swarm = await start(newStateRoot());
  const unknown = 'a'.repeat(64);
  const cases: readonly (readonly [content: readonly unknown[], problem: string])[] = [
    [[{ type: 'video', data: 'AAAA' }], 'content[0].type is not one of text, image, file'],
    [[{ type: 'text' }], 'content[0].text is not a text'],
    [[{ type: 'image', image: 'no base64!' }], 'content[0] is not base64, a data URL or a URL'],
    [[{ type: 'image', image: 'data:nothing' }], 'content[0].image is a data URL without data: "data:nothing"'],
    [[{ type: 'image', image: 'AAAA', name: 'x' }], 'content[0] has the unknown field "name"; known: type, image'],
    [[{ type: 'image', image: 'blob:sha256-77' }], 'content[0].image is not a reference to a stored file'],
    [[{ type: 'image', image: fileReferenceOf(unknown) }], `No file with the SHA-256 ${unknown} is stored`],
    [
      Array.from({ length: 257 }, () => ({ type: 'text', text: 'x' })),
      '`content` has 257 parts; at most 256 are allowed',
    ],
  ];
  for (const [content, problem] of cases) {
    // The cast imitates a program in plain JavaScript, which no types check.
    const error = await failure(swarm.deliver({ input: 'look', content: content as never }));
    expect(error).toMatchObject({ code: expect.stringMatching(/^E_FILE_/), message: expect.stringContaining(problem) });
  }
});

describe('Y-02 a model gets the stored bytes', () => {
  test.each([...sampledCases([undefined, 'agent'] as const, 2, 1)])(
    'from a process of its own, after a restart (isolation: %p)',
    async (isolation) => {
      await using server = startWireServer(openaiWire);
      const reply = { reply: { text: ['ok'], usage: { input: 1, output: 1, cached: 0 } } };
      server.answer(reply, reply);
      const model = { provider: 'openai-compatible', model: 'local', endpoint: `${server.url}/v1` };
      const agents = [{ agentName: 'painter', models: { 'Model/real': model }, ...(isolation && { isolation }) }];
      const stateRoot = newStateRoot();
      const png = Buffer.concat([Buffer.from('iVBORw0KGgoAAAAN', 'base64'), bytesOf(700_000)]);
      const swarm = await start(stateRoot, agents);
      await swarm.ask({ input: 'look', content: [{ type: 'image', image: png, filename: 'cat.png' }] });
      await swarm.stop({ graceMs: 1_000 });
      const next = await start(stateRoot, agents);
      const { result } = await next.ask({ input: 'and now?' });
      expect(textOf(result.responseMessage)).toBe('ok');
      const url = `data:image/png;base64,${png.toString('base64')}`;
      const image = { type: 'image_url', image_url: { url } };
      expect(server.requests.map(({ body }) => JSON.stringify(body).includes(JSON.stringify(image)))).toEqual([
        true,
        true,
      ]);
      expect(filesWith(stateRoot, [png.toString('base64').slice(1_000, 1_100)])).toEqual([]);
    },
  );
});

testInProof(
  'Y-02 a retried dead letter and a process that hibernated have the files of the conversation',
  async () => {
    await using server = startWireServer(openaiWire);
    const reply = { reply: { text: ['ok'], usage: { input: 1, output: 1, cached: 0 } } };
    server.answer(reply, reply);
    const bundle = temporaryBundle({
      'goondan.yaml': `apiVersion: goondan.ai/v1
kind: Model
metadata: { name: real }
spec: { provider: openai-compatible, model: local, endpoint: '${server.url}/v1' }
---
apiVersion: goondan.ai/v1
kind: Extension
metadata: { name: poison }
spec: { entry: ./poison.ts }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: painter }
spec: { modelConfig: { modelRef: Model/real }, extensions: [Extension/poison] }
---
apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: studio }
spec:
  entryAgent: Agent/painter
  agents: [Agent/painter]
  policy: { spares: 0, idle: { hibernateAfterSeconds: 1 } }
`,
      'poison.ts': `import { existsSync } from 'node:fs';
import { join } from 'node:path';
export function register({ pipeline }) {
  pipeline.register('turn', async (ctx) => {
    if (existsSync(join(import.meta.dirname, 'poisoned'))) process.kill(process.pid, 'SIGKILL');
    return ctx.next();
  });
}
`,
      poisoned: '',
    });
    cleanups.push(() => bundle[Symbol.dispose]());
    const swarm = await startSwarm({ bundleFolder: bundle.folder, stateRoot: newStateRoot() });
    cleanups.push(() => swarm.stop({ graceMs: 0 }));
    const png = Buffer.concat([Buffer.from('iVBORw0KGgoAAAAN', 'base64'), bytesOf(700_000)]);
    const content = [{ type: 'image' as const, image: png, filename: 'cat.png' }];
    const { eventId } = await swarm.deliver({ input: 'look', content });
    await until(async () => (await swarm.deadLetters()).length !== 0);
    expect(server.requests).toHaveLength(0);
    rmSync(join(bundle.folder, 'poisoned'));
    const painter = { agent: 'painter', instanceKey: 'default' };
    expect(await swarm.retryDeadLetter({ ...painter, eventId })).toBe(true);
    const isAsleep = async () => (await swarm.instances()).every(({ status }) => status === 'asleep');
    await until(async () => server.requests.length > 0 && (await isAsleep()));
    await swarm.ask({ input: 'and now?' });
    const has = (body: unknown) => JSON.stringify(body).includes(png.toString('base64'));
    expect(server.requests.map(({ body }) => has(body))).toEqual([true, true]);
  },
  60_000,
);

describe('Y-02 stored bytes live as long as a conversation names them', () => {
  test('they stay for a fork, and go with the last conversation', async () => {
    const stateRoot = newStateRoot();
    const swarm = await start(stateRoot);
    const bytes = bytesOf(1_000);
    await swarm.ask({ input: 'look', content: [fileOf(bytes)] });
    await swarm.ask({ input: 'look', instanceKey: 'own', content: [fileOf(bytesOf(10, 'own'))] });
    const painter = { agent: 'painter', instanceKey: 'default' };
    await swarm.forkInstance({ ...painter, as: 'fork' });
    await swarm.deleteInstance(painter);
    expect(storedIn(stateRoot).toSorted()).toEqual([sha256(bytes), sha256(bytesOf(10, 'own'))].toSorted());
    await swarm.deleteInstance({ ...painter, instanceKey: 'fork' });
    expect(storedIn(stateRoot)).toEqual([sha256(bytesOf(10, 'own'))]);
    await swarm.deleteInstance({ ...painter, instanceKey: 'own' });
    expect(storedIn(stateRoot)).toEqual([]);
  });

  test('a process that is killed between the store and the inbox leaves nothing', async () => {
    const stateRoot = newStateRoot();
    const first = await start(stateRoot);
    await first.ask({ input: 'look', content: [fileOf(bytesOf(10, 'named'))] });
    await first.stop();
    const code = `import { fileBlobs } from ${JSON.stringify(join(import.meta.dirname, 'store/files/file-blobs.ts'))};
      const blobs = fileBlobs(${JSON.stringify({ stateRoot, workspaceId: 'studio' })});
      await blobs.put({ agentName: 'painter', instanceKey: 'default' }, new Uint8Array(1000));
      await blobs.put({ agentName: 'painter', instanceKey: 'new' }, new Uint8Array(2000));
      await blobs.put({ upload: 'u' }, new Uint8Array(3000));
      console.log('stored');
      await new Promise(() => {});`;
    const child = Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe' });
    await child.stdout.getReader().read();
    child.kill('SIGKILL');
    await child.exited;
    expect(storedIn(stateRoot)).toHaveLength(4);
    const next = await start(stateRoot);
    expect(storedIn(stateRoot)).toEqual([sha256(bytesOf(10, 'named'))]);
    expect(textOf((await next.ask({ input: 'still there?' })).result.responseMessage)).toBe('I see .');
  });
});
