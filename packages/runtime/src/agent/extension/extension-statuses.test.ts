import { expect, test } from 'bun:test';
import type { ExtensionApi, ExtensionStatusChanged } from '@goondan/types';
import { agentLanguage } from '../../ipc/codec.ts';
import { connectInMemory } from '../../testing/connect-in-memory.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { extension, manualClock, scriptedAgent } from '../../testing/index.ts';
import { describeAgent, tellChanges } from '../process/describe-agent.ts';

/** Starts an agent with two extensions: one that the test controls, and one that records all statuses. */
async function start(secrets: readonly string[] = []) {
  const heard: ExtensionStatusChanged[] = [];
  let api: ExtensionApi | undefined;
  const agent = await scriptedAgent({
    secrets: [...secrets],
    extensions: [
      extension('listener', ({ events }) => void events.on('extension.status', (status) => heard.push(status))),
      extension('files', (given) => void (api = given)),
    ],
  });
  const tell = (status: unknown) => api?.events.emit('extension.status', status);
  return { agent, heard, tell, tools: () => api?.tools, all: () => agent.agent.parts.statuses.all() };
}

test('an extension emits a status, and every listener gets it with the extension’s name', async () => {
  const { heard, tell, tools, all } = await start();
  tell({ state: 'connecting' });
  tools()?.register({ name: 'files__look', description: 'A tool.' }, () => null);
  // An extension cannot list tools that do not exist.
  tell({ state: 'connected', tools: ['files__look', 'files__nowhere'] });
  tell({ state: 'connected', tools: [] });
  expect(heard).toMatchObject([
    { extension: 'files', agentName: 'tested', instanceKey: 'default', state: 'connecting' },
    { extension: 'files', state: 'connected', tools: ['files__look'] },
    { extension: 'files', state: 'connected', tools: [] },
  ]);
  // `since` is the time at which the state began, not the time of the last report.
  expect(heard[2]?.since).toBe(heard[1]?.since ?? '');
  expect(all()).toEqual(heard.slice(-1));
});

test('secrets are masked, and every field is bounded', async () => {
  const { tell, tools, all } = await start(['canary-4711']);
  tools()?.register({ name: 'a__b', description: 'A tool.' }, () => null);
  tell({
    state: 'failed',
    target: 'server --token canary-4711',
    problem: `${'x'.repeat(1_995)}canary-4711`,
    lines: Array.from({ length: 30 }, (_, index) => `canary-4711 ${index} ${'y'.repeat(1_000)}`),
    withheld: Array.from({ length: 100 }, () => ({ name: 'canary-4711', problem: 'z'.repeat(1_000) })),
    tools: Array.from({ length: 3_000 }, () => 'a__b'),
  });
  const [status] = all();
  expect(JSON.stringify(status)).not.toContain('canary');
  expect(status?.lines).toHaveLength(10);
  expect(status?.lines?.at(-1)).toStartWith('*** 29 y');
  expect(status?.withheld).toHaveLength(50);
  expect(status?.tools).toHaveLength(1_024);
  expect(JSON.stringify({ ...status, tools: [] }).length).toBeLessThan(2_200 + 2_200 + 10 * 600 + 50 * 700);
});

test.each([
  undefined,
  'connected',
  { state: 'fine' },
  { state: 'failed', lines: 'a' },
  { state: 'failed', tools: [7] },
])('%j is not a status: it logs a warning, and no listener gets it', async (status) => {
  const { agent, heard, tell, all } = await start();
  tell(status);
  expect({ heard, all: all() }).toEqual({ heard: [], all: [] });
  expect(agent.logs).toMatchObject([{ level: 'warn', extension: 'files', event: 'status.refused' }]);
});

test.each([
  [
    'it names the nearest field',
    { state: 'failed', problm: 'gone' },
    '"problm" is not a field of a status; the nearest field is "problem"',
  ],
  [
    'does not let an extension report under another name',
    { state: 'failed', extension: 'somebody-else' },
    '"extension" is not a field of a status; its fields are state, target, problem, lines, lost, tools, withheld',
  ],
])('a status with an unknown field is refused: %s', async (_title, status, problem) => {
  const { agent, heard, tell } = await start();
  tell(status);
  expect(heard).toEqual([]);
  expect(agent.logs).toMatchObject([
    { level: 'warn', extension: 'files', message: `A status of this extension was ignored: ${problem}.` },
  ]);
});

test('a status emitted during a turn has the ids of that turn', async () => {
  const told: ExtensionStatusChanged[] = [];
  const agent = await scriptedAgent({
    extensions: [
      extension('files', ({ events, pipeline }) => {
        events.on('extension.status', (status) => told.push(status));
        pipeline.register('turn', (ctx) => {
          events.emit('extension.status', { state: 'failed' });
          return ctx.next();
        });
      }),
    ],
  });
  await agent.say('hi');
  expect(told).toMatchObject([{ turnId: 'turn-event-1', traceId: 'trace-1' }]);
});

test('an agent describes the extension of each tool, the tools that are gone, and extensions without a list', async () => {
  const { agent, tell, tools } = await start();
  const now = new Date('2026-01-02T03:04:05Z');
  const describe = () => describeAgent(agent.agent, now);
  for (const name of ['files__look', 'files__old']) {
    tools()?.register({ name, description: 'A tool.' }, () => null);
  }
  expect(describe()).toMatchObject({
    tools: ['files__look', 'files__old'],
    registered: [
      { name: 'files__look', extension: 'files', seenAt: now.toISOString() },
      { name: 'files__old', extension: 'files', seenAt: now.toISOString() },
    ],
  });
  expect(describe().unknown).toBeUndefined();
  tell({ state: 'idle' });
  expect(describe()).toMatchObject({ unknown: ['files'], statuses: [{ extension: 'files', state: 'idle' }] });
  tell({ state: 'connected', tools: ['files__look'] });
  expect(describe()).toMatchObject({ tools: ['files__look'], registered: [{ name: 'files__look' }] });
  expect(describe().unknown).toBeUndefined();
});

test('a status that throws when it is read is logged as refused, and its extension gets no error', async () => {
  const { agent, heard, tell } = await start();
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  tell({ state: 'failed', lines: proxy });
  expect(heard).toEqual([]);
  expect(agent.logs).toMatchObject([{ level: 'warn', extension: 'files', event: 'status.refused' }]);
});

test('since is when the state began, however often it is emitted', async () => {
  const clock = manualClock();
  let api: ExtensionApi | undefined;
  const agent = await scriptedAgent({ clock, extensions: [extension('files', (given) => void (api = given))] });
  const sinceAfter = async (state: string) => {
    await clock.advance(1_000);
    api?.events.emit('extension.status', { state });
    return agent.agent.parts.statuses.of('files')?.since;
  };
  const first = await sinceAfter('connected');
  expect(await sinceAfter('connected')).toBe(first);
  expect(await sinceAfter('failed')).not.toBe(first);
});

test('a status that changed in a turn is sent before the end of the turn, without a delay', async () => {
  const [parent, child] = connectInMemory(agentLanguage);
  const told: FromAgent[] = [];
  parent.onMessage((message) => void told.push(message));
  const saying = extension('files', ({ pipeline, events }) => {
    pipeline.register('turn', (ctx) => {
      events.emit('extension.status', { state: 'connecting' });
      return ctx.next();
    });
  });
  const clock = manualClock();
  const agent = await scriptedAgent({ extensions: [saying] });
  tellChanges(agent.agent, child, clock);
  await agent.say('hello');
  await clock.advance(0);
  expect(told).toMatchObject([{ type: 'described', statuses: [{ state: 'connecting' }] }]);
});
