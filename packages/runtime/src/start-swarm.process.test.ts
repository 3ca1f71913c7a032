// Tests a swarm that a program starts, with real processes: the swarm's files while it runs, and its cleanup.
import { afterEach, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import { connectSwarm } from './control/connect-swarm.ts';
import type { Swarm } from './control/swarm.ts';
import { checkTag } from './orchestrator/guardian/process-tag.ts';
import { readProcesses } from './orchestrator/guardian/read-processes.ts';
import type { LogLine } from './ports/log-line.ts';
import { type PlanToStart, startSwarm, type StartSwarmOptions } from './start-swarm.ts';
import { readOwner } from './testing/read-owner.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';
import { until } from '../../../test/until.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function newStateRoot(): string {
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-start-swarm-'));
  cleanups.push(() => rmSync(stateRoot, { recursive: true, force: true }));
  return stateRoot;
}

const script = { script: [{ say: 'You said: {{input}}' }] };
const scripted = { 'Model/scripted': { provider: 'scripted', model: 'test', options: script } };
const clerk = { name: 'shop', agents: [{ agentName: 'clerk', models: scripted }] };

async function start(options: Partial<PlanToStart> = {}): Promise<Swarm & { readonly stateRoot: string }> {
  const stateRoot = options.stateRoot ?? newStateRoot();
  const swarm = await startSwarm({ ...clerk, workspace: 'shop', ...options, stateRoot });
  cleanups.push(() => swarm.stop({ graceMs: 0 }));
  return { ...swarm, stateRoot };
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );
const place = (stateRoot: string) => ({ stateRoot, workspaceId: 'shop' });

describe('a running swarm', () => {
  test('gives up a running reload when it is stopped', async () => {
    const swarm = await start({ readPlan: () => new Promise(() => undefined) });
    const reload = failure(swarm.reload());
    await swarm.stop({ graceMs: 0 });
    expect(await Promise.race([reload, Bun.sleep(1_000)])).toMatchObject({ code: 'E_SWARM_STOPPED' });
  });

  test('answers, here and over its control socket', async () => {
    const swarm = await start();
    const end = await swarm.ask({ input: 'hello' });
    expect(textOf(end.result.responseMessage)).toBe('You said: hello');
    const client = await connectSwarm(place(swarm.stateRoot));
    const heard: string[] = [];
    const answer = await client.ask({ input: 'again' }, { onNotice: ({ type }) => void heard.push(type) });
    expect(textOf(answer.result.responseMessage)).toBe('You said: again');
    expect(heard).toContain('delta');
    expect(heard).toContain('runtime.event');
    const { pid, swarm: name, instances, version } = await client.status();
    expect({ pid, name, version }).toEqual({ pid: process.pid, name: 'shop', version: '0.1.0' });
    expect(instances).toMatchObject([{ agent: 'clerk', instanceKey: 'default', status: 'idle' }]);
  });

  test('has all its files in its workspace, for its owner alone', async () => {
    const swarm = await start();
    await swarm.ask({ input: 'hello' });
    const folder = join(swarm.stateRoot, 'workspaces', 'shop');
    const own = [
      'control.sock',
      'inbox',
      'instances',
      'layers',
      'logs',
      'orchestrator.json',
      'run',
      'swarm.json',
      'workspace.lock',
    ];
    // These files are only for display, and are written in the background.
    for (const each of ['layers', 'swarm.json']) await until(() => existsSync(join(folder, each)));
    const later = ['instances.jsonl', 'traces'];
    const names = readdirSync(folder).filter((name) => !later.includes(name));
    expect(names.toSorted()).toEqual(own);
    expect(statSync(join(folder, 'control.sock')).mode & 0o777).toBe(0o600);
    expect(await readOwner(place(swarm.stateRoot))).toMatchObject({ pid: process.pid, swarm: 'shop' });
  });

  test('is the only one of its workspace: the next one is rejected with the first owner', async () => {
    const { stateRoot } = await start();
    expect(await failure(start({ stateRoot }))).toMatchObject({
      code: 'E_SWARM_RUNNING',
      message: expect.stringContaining(String(process.pid)),
    });
    const client = await connectSwarm(place(stateRoot));
    expect(await client.status()).toMatchObject({ swarm: 'shop' });
  });

  test('is found by its state root, also through a link, however deep it is', async () => {
    const root = newStateRoot();
    const deep = join(root, 'deep/'.repeat(20));
    mkdirSync(deep, { recursive: true, mode: 0o700 });
    symlinkSync(deep, join(root, 'link'));
    for (const stateRoot of [join(root, 'link'), deep]) {
      const swarm = await start({ stateRoot });
      expect(await (await connectSwarm(place(stateRoot))).status()).toMatchObject({ swarm: 'shop' });
      await swarm.stop({ graceMs: 0 });
    }
  });

  test('writes its log to a listener and to a file', async () => {
    const lines: LogLine[] = [];
    const swarm = await start({ onLog: (line) => void lines.push(line) });
    await swarm.ask({ input: 'hello' });
    await swarm.stop();
    const events = lines.map(({ event }) => event);
    expect(events).toContain('swarm.started');
    expect(events).toContain('swarm.stopped');
    const written = readFileSync(join(swarm.stateRoot, 'workspaces', 'shop', 'logs', 'swarm.jsonl'), 'utf8');
    expect(
      written
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event),
    ).toEqual(events);
  });
});

describe('a swarm from a folder', () => {
  const yaml = (say: string) =>
    [
      `kind: Model, metadata: { name: scripted }, spec: { provider: scripted, model: test, options: { script: [{ say: ${say} }] } }`,
      'kind: Agent, metadata: { name: clerk }, spec: { modelConfig: { modelRef: Model/scripted } }',
      'kind: Swarm, metadata: { name: shop }, spec: { entryAgent: Agent/clerk, agents: [Agent/clerk], workspace: shop }',
    ]
      .map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`)
      .join('---\n');

  test('answers, and reads the folder again when it is reloaded', async () => {
    using bundle = temporaryBundle({ 'goondan.yaml': yaml('open') });
    const stateRoot = newStateRoot();
    const swarm = await startSwarm({ bundleFolder: bundle.folder, stateRoot });
    cleanups.push(() => swarm.stop({ graceMs: 0 }));
    const ask = async () => textOf((await swarm.ask({ input: 'Hello' })).result.responseMessage);
    expect(await ask()).toBe('open');
    writeFileSync(join(bundle.folder, 'goondan.yaml'), yaml('closed'));
    expect((await swarm.reload()).changed).toContain('Agent/clerk');
    expect(await ask()).toBe('closed');
    writeFileSync(join(bundle.folder, 'goondan.yaml'), yaml('closed').replace('workspace: shop', 'workspace: other'));
    expect(await failure(swarm.reload())).toMatchObject({ code: 'E_RELOAD_SWARM' });
  });
});

describe('a stopped swarm', () => {
  test('R-07 leaves no process, no socket and no owner, and continues at the next start', async () => {
    const lines: LogLine[] = [];
    const swarm = await start({ onLog: (line) => void lines.push(line) });
    await swarm.ask({ input: 'one' });
    const [instance] = (await swarm.status()).instances;
    const owner = await readOwner(place(swarm.stateRoot));
    const tag = checkTag(owner?.runTag ?? '');
    const countProcesses = async () => (await readProcesses(tag)).filter(({ isTagged }) => isTagged).length;
    await until(async () => (await countProcesses()) === 2, { about: 'the used spare is replaced' });
    await swarm.stop();
    // No process was left for the guardian to end.
    expect(lines.filter(({ event }) => event === 'run.left_over')).toEqual([]);
    await swarm.stopped;
    expect(() => process.kill(instance?.pid ?? 0, 0)).toThrow('ESRCH');
    const folder = join(swarm.stateRoot, 'workspaces', 'shop');
    expect(existsSync(join(folder, 'control.sock'))).toBe(false);
    expect(existsSync(join(folder, 'run'))).toBe(false);
    expect(await readOwner(place(swarm.stateRoot))).toBeUndefined();
    expect(await failure(connectSwarm(place(swarm.stateRoot)))).toMatchObject({ code: 'E_CONTROL_CLOSED' });
    expect(await failure(swarm.deliver({ input: 'two' }))).toMatchObject({ code: 'E_SWARM_STOPPED' });

    const next = await start({ stateRoot: swarm.stateRoot });
    expect(await next.instances()).toMatchObject([{ agent: 'clerk', status: 'asleep' }]);
    expect(textOf((await next.ask({ input: 'three' })).result.responseMessage)).toBe('You said: three');
  });

  test('X-12 gives its extensions their state back when they register again, each instance its own', async () => {
    const root = newStateRoot();
    writeFileSync(
      join(root, 'counter.ts'),
      `export async function register(api) {
         const before = await api.state.get();
         api.pipeline.register('turn', async (ctx) => {
           await api.state.set((before ?? 0) + 1);
           api.logger.info('before: ' + before);
           return ctx.next();
         });
       }`,
    );
    const resource = {
      apiVersion: 'goondan.ai/v1',
      kind: 'Extension' as const,
      metadata: { name: 'counter' },
      spec: { entry: './counter.ts' },
    };
    const models = { 'Model/m': { provider: 'scripted', model: 'm', options: { script: [{ say: 'ok' }] } } };
    const agents = [{ agentName: 'clerk', models, extensions: [{ resource, root }] }];
    const stateRoot = newStateRoot();
    const heard: string[] = [];
    const onLog = ({ extension, message }: LogLine) => void (extension === 'counter' && heard.push(message));
    for (const instanceKey of ['one', 'one', 'two']) {
      const swarm = await start({ agents, stateRoot, onLog });
      await swarm.ask({ input: 'hello', instanceKey });
      await swarm.stop();
    }
    expect(heard).toEqual(['before: null', 'before: 1', 'before: null']);
  });

  test('over its socket is gone when the client gets the answer', async () => {
    const swarm = await start();
    const client = await connectSwarm(place(swarm.stateRoot));
    await client.stop();
    expect(await readOwner(place(swarm.stateRoot))).toBeUndefined();
    const next = await start({ stateRoot: swarm.stateRoot });
    expect((await next.status()).swarm).toBe('shop');
  });

  test('with a waiting caller tells it that the turn continues later', async () => {
    const slow = { script: [{ say: 'slow' }], latencyMs: 60_000 };
    const models = { 'Model/scripted': { provider: 'scripted', model: 'test', options: slow } };
    const swarm = await start({ agents: [{ agentName: 'clerk', models }] });
    const asked = failure(swarm.ask({ input: 'x' }));
    await until(async () => (await swarm.status()).instances[0]?.status === 'working');
    await swarm.stop({ graceMs: 50 });
    expect(await asked).toMatchObject({ code: 'E_SWARM_STOPPED' });
  });
});

describe('a swarm that cannot start', () => {
  test('lists all its problems, and leaves nothing', async () => {
    const stateRoot = newStateRoot();
    expect(await failure(start({ stateRoot, name: 'My Shop', agents: [] }))).toMatchObject({ code: 'E_SWARM_PLAN' });
    expect(readdirSync(stateRoot)).toEqual([]);
  });

  test.each([
    ['the answer of resolveSwarm', { plan: {}, workspaceId: 'shop', secrets: [] }, 'E_SWARM_PLAN', '...resolved.plan'],
    ['nothing', undefined, 'E_SWARM_PLAN', '{ bundleFolder }'],
    ['a plan without a name', { agents: [] }, 'E_SWARM_PLAN', ''],
    ['a plan whose agents are names', { name: 'shop', agents: ['clerk'] }, 'E_SWARM_PLAN', ''],
    ['a folder that is not there', { bundleFolder: '/nowhere' }, 'E_BUNDLE_MISSING', ''],
    ['a plan for a folder that is not there', { ...clerk, bundleFolder: '/nowhere' }, 'E_BUNDLE_MISSING', ''],
  ])('because of %s reports a code', async (_, given, code, suggestion) => {
    // The cast is needed because a program in JavaScript may pass anything.
    expect(await failure(startSwarm(given as unknown as StartSwarmOptions))).toMatchObject({
      code,
      suggestion: expect.stringContaining(suggestion),
    });
  });

  test('because of an unusable socket path releases its workspace', async () => {
    const swarm = await start();
    await swarm.stop();
    const folder = join(swarm.stateRoot, 'workspaces', 'shop');
    await Bun.write(join(folder, 'control.sock'), 'not a socket');
    expect(await failure(start({ stateRoot: swarm.stateRoot }))).toMatchObject({ code: 'E_CONTROL_PATH' });
    expect(await readOwner(place(swarm.stateRoot))).toBeUndefined();
    rmSync(join(folder, 'control.sock'));
    expect((await (await start({ stateRoot: swarm.stateRoot })).status()).swarm).toBe('shop');
  });
});
