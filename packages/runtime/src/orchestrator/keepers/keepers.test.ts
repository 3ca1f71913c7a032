import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentAddress, GoondanError, type JsonObject } from '@goondan/types';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { FromKeeper } from '../../ipc/from-keeper.ts';
import type { ToKeeper } from '../../ipc/to-keeper.ts';
import type { LogLine } from '../../ports/log-line.ts';
import { fakeSpawn, type FakeSpawnOptions } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { CurrentPlan } from '../plan/current-plan.ts';
import { Keepers } from './keepers.ts';

const at = (instanceKey: string): AgentAddress => ({ agentName: 'host', instanceKey });

function plan(
  config: JsonObject = {},
  policy: SwarmPlan['policy'] = {},
  more: Partial<SwarmPlan['agents'][number]> = {},
): SwarmPlan {
  const resource = {
    apiVersion: 'goondan.ai/v1',
    kind: 'Extension' as const,
    metadata: { name: 'files' },
    spec: { entry: './mcp.ts', config: { transport: { type: 'stdio' }, attach: { mode: 'stateful' }, ...config } },
  };
  const extensions = [{ resource, root: '/base', keeper: { entry: './keep.ts' } }];
  const environment = { TOKEN: 'canary-4711' };
  const host = { agentName: 'host', models: {}, extensions, environment, secrets: ['canary-4711'], ...more };
  return { name: 'test', agents: [host, { ...host, agentName: 'other' }], policy };
}

/** Opens keepers whose processes are fake: each is ready at once, and exits when it is drained. */
function open(
  first: SwarmPlan = plan(),
  { newSocket, ...more }: FakeSpawnOptions & { readonly newSocket?: () => string } = {},
) {
  const clock = manualClock();
  const fake = fakeSpawn<ToKeeper, FromKeeper>({ clock, ...more });
  const starts: JsonObject[] = [];
  const currentPlan = new CurrentPlan(first);
  const lines: LogLine[] = [];
  let sockets = 0;
  const keepers = new Keepers({
    spawn: (language, request) => {
      const child = fake.spawn(language, request);
      const own = fake.children.at(-1);
      own?.channel.onMessage((message) => {
        if (message.type === 'start') {
          starts.push(message.plan);
          void own.channel.send({ type: 'ready' });
        }
        if (message.type === 'drain') own.exit({ code: 0 });
      });
      return child;
    },
    clock,
    runner: 'none',
    newFrameFolder: () => '/frames',
    newSocket: newSocket ?? (() => `/run/k${(sockets += 1)}.sock`),
    makeSharedFolder: () => '/shared',
    log: (line) => void lines.push(line),
    currentPlan,
  });
  const attach = (instanceKey: string, wanted = currentPlan.value, agentName = 'host') => {
    const agent = wanted.agents.get(agentName);
    if (agent === undefined) throw new Error('no agent');
    return keepers.attach({ agentName, instanceKey }, agent, '/cwd').extensions?.[0]?.keeper;
  };
  const kept = () => keepers.describe().kept ?? [];
  return { keepers, currentPlan, fake, clock, lines, attach, kept, starts };
}

/** Resolves when every message has arrived, with the messages that follow from it. No timer decides that. */
async function settled(): Promise<void> {
  for (let hop = 0; hop < 50; hop += 1) await new Promise((resolve) => void setImmediate(resolve));
}

test('L-02 one keeper for each conversation, with the environment of the agent; a second process gets the same socket', async () => {
  const { attach, kept, fake, keepers } = open();
  expect(attach('a')).toEqual({ entry: './keep.ts', socket: '/run/k1.sock' });
  expect(attach('b')).toEqual({ entry: './keep.ts', socket: '/run/k2.sock' });
  keepers.processGone(at('a'));
  expect(attach('a')?.socket).toBe('/run/k1.sock');
  expect(kept().map(({ instanceKey }) => instanceKey)).toEqual(['a', 'b']);
  expect(fake.children.map(({ request }) => request.environment)).toEqual([
    { TOKEN: 'canary-4711' },
    { TOKEN: 'canary-4711' },
  ]);
  // A secret is in the environment and in the first message, never in an argument.
  const visible = fake.children.map(({ request: { name, runner, frameFolder, args } }) => [
    name,
    runner,
    frameFolder,
    args,
  ]);
  expect(JSON.stringify(visible)).not.toContain('canary-4711');
  await keepers.drain(0);
});

test('L-02 another environment and working folder reach the running keeper, and the next process of it', async () => {
  const { attach, fake, keepers, currentPlan } = open();
  attach('a');
  await settled();
  const told: ToKeeper[] = [];
  fake.children[0]?.channel.onMessage((message) => void told.push(message));
  attach('a');
  const environment = { OTHER: 'new' };
  currentPlan.replace(plan({}, {}, { environment, workdir: '/else', secrets: ['new'] }));
  keepers.retain();
  keepers.processGone(at('a'));
  expect(attach('a')?.socket).toBe('/run/k1.sock');
  await settled();
  const changed = { environment, unset: ['TOKEN'], workdir: '/else', secrets: ['new'] };
  expect(told).toEqual([{ type: 'surroundings', ...changed }]);

  fake.children[0]?.exit({ signal: 'SIGKILL' });
  await settled();
  expect(fake.children.map(({ request }) => request.environment)).toEqual([{ TOKEN: 'canary-4711' }, environment]);
  await keepers.drain(0);
});

test('L-02 scope agent: all conversations get the same socket, and a deleted one leaves it open', async () => {
  const { attach, kept, keepers } = open(plan({ attach: { mode: 'stateful', scope: 'agent' } }));
  expect(new Set(['a', 'b', 'c'].map((key) => attach(key)?.socket)).size).toBe(1);
  await keepers.endConversation(at('a'));
  expect(kept()).toMatchObject([{ agent: 'host', extension: 'files' }]);
  expect(kept()[0]).not.toHaveProperty('instanceKey');
  await keepers.drain(0);
});

test('L-02 a changed connection gets another keeper; the old one ends with the last process that uses it', async () => {
  const { attach, kept, keepers, currentPlan, lines } = open();
  const ends = () => lines.filter(({ event }) => event === 'keeper.stopped').map(({ message }) => message);
  attach('a');
  currentPlan.replace(plan({ timeouts: { callMs: 1 } }));
  keepers.retain();
  expect(attach('a')?.socket).toBe('/run/k1.sock');
  currentPlan.replace(plan({ expose: { tools: false } }));
  keepers.retain();
  // The running turn still uses the old one.
  expect(kept()).toHaveLength(1);
  keepers.processGone(at('a'));
  expect(kept()).toHaveLength(0);
  expect(attach('a')?.socket).toBe('/run/k2.sock');
  currentPlan.replace(plan({ attach: {} }));
  keepers.processGone(at('a'));
  currentPlan.replace(plan());
  attach('a');
  await keepers.endConversation(at('a'));
  attach('a');
  await keepers.drain(0);
  expect(ends()).toEqual([
    expect.stringContaining('expose, a variable that it uses, or its extension has changed.'),
    'Stopped. The reason: the agent no longer keeps this connection.',
    'Stopped. The reason: its conversation was deleted or reset.',
    'Stopped. The reason: the swarm stops.',
  ]);
});

test('L-02 during a change both keepers run; the one that the plan in force has not stays until the process has settled', async () => {
  const { attach, kept, keepers, currentPlan } = open();
  attach('a');
  const changed = plan({ expose: { tools: false } });
  expect(attach('a', currentPlan.preview(changed))?.socket).toBe('/run/k2.sock');
  expect(kept()).toHaveLength(2);
  // The change was dropped.
  keepers.settle(at('a'));
  expect(kept()).toHaveLength(1);
  expect(attach('a')?.socket).toBe('/run/k1.sock');
  // The change was made.
  attach('a', currentPlan.preview(changed));
  currentPlan.replace(changed);
  keepers.retain();
  expect(kept()).toHaveLength(2);
  keepers.settle(at('a'));
  expect(kept()).toHaveLength(1);
  expect(attach('a')?.socket).toBe('/run/k3.sock');
  await keepers.drain(0);
});

test('L-02 at most maxKept connections; a changed one takes the place of its predecessor', async () => {
  const { attach, keepers, lines, currentPlan, kept } = open(plan({}, { maxKept: 1 }));
  attach('a');
  const refused = attach('b');
  expect(refused?.refused).toContain('policy.maxKept allows (1). Raise it');
  expect(lines.at(-1)).toMatchObject({ event: 'keeper.refused', agent: 'host', instance: 'b', level: 'warn' });
  expect(attach('a', currentPlan.preview(plan({ expose: { tools: false } }, { maxKept: 1 })))?.socket).toBeString();
  keepers.settle(at('a'));
  await keepers.endConversation(at('a'));
  // The other conversation takes the place, with the socket that its process knows.
  expect(kept().map(({ instanceKey }) => instanceKey)).toEqual(['b']);
  expect(attach('b')).toEqual({ entry: './keep.ts', socket: String(refused?.socket) });
  await keepers.drain(0);
});

test('L-02 a raised maxKept starts the keepers that wait for room, and only those of a running process', async () => {
  const { attach, keepers, currentPlan, kept, starts } = open(plan({}, { maxKept: 1 }));
  attach('a');
  const waiting = ['b', 'c', 'd'].map((key) => attach(key)?.socket);
  keepers.processGone(at('b'));
  expect(kept()).toHaveLength(1);
  currentPlan.replace(plan({}, { maxKept: 2 }));
  keepers.retain();
  expect(kept().map(({ instanceKey }) => instanceKey)).toEqual(['a', 'c']);
  await settled();
  expect(starts.at(-1)?.socket).toBe(waiting[1]);
  // A lower limit ends nothing.
  currentPlan.replace(plan({}, { maxKept: 1 }));
  keepers.retain();
  expect(kept()).toHaveLength(2);
  await keepers.drain(0);
  expect(kept()).toEqual([]);
});

test('L-02 a keeper that dies is started again, and a restart of its server is an event; after drain none starts', async () => {
  const { attach, keepers, fake, lines, kept } = open();
  attach('a');
  await settled();
  expect(kept()).toMatchObject([{ status: 'listening', pid: fake.children[0]?.pid }]);
  const tell = (status: Extract<FromKeeper, { type: 'status' }>['status']) =>
    fake.children.at(-1)?.channel.send({ type: 'status', status });
  await tell({ state: 'connected' });
  await tell({ state: 'reconnecting', lost: 1, problem: 'SIGKILL ended it.' });
  await settled();
  const restarts = () => lines.filter(({ event }) => event === 'keeper.server_restarted');
  expect(restarts()).toEqual([]);
  await tell({ state: 'connected', lost: 1, problem: 'SIGKILL ended it.' });
  await settled();
  expect(restarts()).toMatchObject([{ agent: 'host', instance: 'a', extension: 'files', level: 'warn' }]);
  expect(kept()[0]?.server).toMatchObject({ state: 'connected', lost: 1 });

  fake.children[0]?.exit({ signal: 'SIGKILL' });
  await settled();
  expect(lines.some(({ event }) => event === 'keeper.exited')).toBe(true);
  expect(fake.children).toHaveLength(2);
  expect(kept()[0]).not.toHaveProperty('server');
  expect(kept()[0]?.problem).toContain('SIGKILL');
  await tell({ state: 'connected' });
  await settled();
  expect(kept()[0]).not.toHaveProperty('problem');
  expect(restarts().map(({ message }) => message)).toEqual([expect.stringContaining('It was lost once, the last')]);
  await keepers.drain(0);
  expect(attach('b')).not.toHaveProperty('socket');
  expect(fake.children).toHaveLength(2);
});

test('L-02 a keeper without a place for its socket is refused with the reason, and the agent starts without it', async () => {
  const { attach, keepers, lines, kept } = open(plan(), {
    newSocket: () => {
      throw new GoondanError('E_CONTROL_PATH', 'The folder belongs to another user.');
    },
  });
  expect(attach('a')?.refused).toContain('The folder belongs to another user.');
  expect(lines).toMatchObject([{ event: 'keeper.refused', level: 'warn', agent: 'host', extension: 'files' }]);
  expect(kept()).toEqual([]);
  await keepers.drain(0);
});

test('L-02 a change that leaves the connection as it is leaves the process its keeper, also for the next change', async () => {
  const { attach, kept, keepers, currentPlan } = open();
  attach('a');
  keepers.settle(at('a'));
  currentPlan.replace(plan({ expose: { tools: false } }));
  keepers.retain();
  expect(kept()).toHaveLength(1);
  keepers.settle(at('a'));
  expect(kept()).toHaveLength(0);
  await keepers.drain(0);
});

test('L-02 a deleted conversation ends the keeper of its own agent, and waits until the process has exited', async () => {
  const { attach, kept, keepers, fake, currentPlan } = open();
  attach('a');
  attach('a', currentPlan.value, 'other');
  await settled();
  let hasExited = false;
  fake.children[0]?.channel.onClose(() => (hasExited = true));
  await keepers.endConversation(at('a'));
  expect(hasExited).toBe(true);
  expect(kept().map(({ agent }) => agent)).toEqual(['other']);
  await keepers.drain(0);
});

test('L-02 the drain resolves when every process has exited, also one that was ended before', async () => {
  const { attach, keepers, fake, currentPlan } = open();
  for (const key of ['a', 'b']) attach(key);
  await settled();
  const exited: number[] = [];
  for (const { pid, channel } of fake.children) channel.onClose(() => void exited.push(pid));
  currentPlan.replace(plan({ expose: { tools: false } }));
  keepers.processGone(at('a'));
  await keepers.drain(0);
  expect(exited).toHaveLength(2);
});

test('L-02 a keeper gets the secrets, and the working folder of the conversation or one that conversations share', async () => {
  const { attach, keepers, starts, currentPlan } = open();
  attach('a');
  attach('b', currentPlan.preview(plan({ attach: { mode: 'stateful', scope: 'agent' } })));
  await settled();
  expect(starts).toMatchObject([
    {
      agentName: 'host',
      extension: 'files',
      secrets: ['canary-4711'],
      workdir: '/cwd',
      entry: './keep.ts',
      root: '/base',
    },
    { secrets: ['canary-4711'], workdir: '/shared' },
  ]);
  expect(['/cwd', '/shared', '/other'].filter((folder) => keepers.worksIn(folder))).toEqual(['/cwd', '/shared']);
  await keepers.drain(0);
  expect(keepers.worksIn('/cwd')).toBe(false);
});

test('L-02 the lines of a keeper name its agent whatever they claim, and its output is masked', async () => {
  const { attach, keepers, fake, lines } = open();
  attach('a');
  await settled();
  const line = {
    time: '2026-01-01T00:00:00.000Z',
    level: 'info' as const,
    message: 'hello',
    agent: 'other',
    instance: 'x',
    extension: 'y',
  };
  await fake.children[0]?.channel.send({ type: 'log', line });
  fake.children[0]?.request.onOutput?.({ kind: 'line', stream: 'stderr', text: 'token canary-4711' });
  await settled();
  expect(lines.find(({ message }) => message === 'hello')).toMatchObject({
    agent: 'host',
    instance: 'a',
    extension: 'files',
  });
  expect(lines.find(({ message }) => message.includes('token'))).toMatchObject({
    agent: 'host',
    instance: 'a',
    message: expect.stringContaining('token ***'),
  });
  await keepers.drain(0);
});

test('L-02 the status of a kept server has the time since which it is in its state', async () => {
  const { attach, keepers, fake, clock, kept } = open();
  attach('a');
  await settled();
  const tell = async (state: 'connected' | 'reconnecting') => {
    await fake.children[0]?.channel.send({ type: 'status', status: { state } });
    await settled();
    return kept()[0]?.server?.since;
  };
  const since = await tell('connected');
  await clock.advance(1_000);
  expect(await tell('connected')).toBe(since);
  expect(await tell('reconnecting')).not.toBe(since);
  await keepers.drain(0);
});

test('L-02 a keeper that fails to start is shown with its problem, and is started again', async () => {
  const { attach, keepers, fake, clock, kept, lines } = open();
  attach('a');
  await settled();
  await fake.children[0]?.channel.send({ type: 'failed', error: { code: 'E_EXT_LOAD', message: 'no such file' } });
  await settled();
  expect(lines.map(({ event, level }) => [event, level])).toContainEqual(['keeper.failed', 'error']);
  expect(kept()).toMatchObject([{ problem: expect.stringContaining('no such file') }]);
  await clock.advance(60_000);
  await settled();
  expect(fake.children.length).toBeGreaterThan(1);
  await keepers.drain(0);
});

test('L-02 a keeper that did not get its first message is not left alone: it is started again', async () => {
  let isSlow = true;
  const { attach, keepers, fake, clock, kept } = open(plan(), {
    beforeSend: () => {
      if (isSlow) throw new Error('too slow');
    },
  });
  attach('a');
  await settled();
  expect(kept()).toMatchObject([{ problem: expect.stringContaining('too slow') }]);
  isSlow = false;
  await clock.advance(5_000);
  await settled();
  expect(fake.children.length).toBeGreaterThan(1);
  expect(kept()).toMatchObject([{ status: 'listening' }]);
  await keepers.drain(0);
});

test('L-02 the socket of a killed keeper is removed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keepers-'));
  const { attach, keepers } = open(plan(), { newSocket: () => join(folder, 'k.sock') });
  const { socket = '' } = attach('a') ?? {};
  writeFileSync(socket, '');
  await settled();
  await keepers.drain(0);
  expect(existsSync(socket)).toBe(false);
  rmSync(folder, { recursive: true });
});
test('L-02 a keeper that outlives a reload shows no secret of the new plan, in its lines, output and status', async () => {
  const { attach, keepers, fake, lines, kept, currentPlan } = open(plan({}, {}, { secrets: ['old-secret-value'] }));
  attach('a');
  currentPlan.replace(plan({}, {}, { secrets: ['new-secret-value'] }));
  keepers.retain();
  const [child] = fake.children;
  const time = new Date(0).toISOString();
  await child?.channel.send({
    type: 'log',
    line: { time, level: 'info', message: 'a line with old-secret-value and new-secret-value' },
  });
  await child?.channel.send({ type: 'status', status: { state: 'failed', problem: 'new-secret-value is wrong' } });
  child?.request.onOutput?.({ kind: 'line', stream: 'stderr', text: 'output with new-secret-value' });
  await settled();
  const shown = JSON.stringify([lines, kept()]);
  expect(shown).toContain('a line with');
  expect(shown).toContain('output with');
  expect(shown).toContain('is wrong');
  expect(shown).not.toMatch(/secret-value/);
  await keepers.drain(0);
});
