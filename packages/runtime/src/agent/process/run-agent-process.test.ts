// Tests the loop of an agent's process, with both ends of its channel in this process and a real disk.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentEvent, GoondanError, type JsonObject, textOf } from '@goondan/types';
import type { AgentStart } from '../../config/agent-start.ts';
import { extensionFile } from '../../testing/index.ts';
import { type LaunchedProcess, type LaunchOptions, launchSpare } from '../../testing/launch-agent-process.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import { logsFolder, tracesFolder, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { listTurns, readTurnTrace } from '../../workspace/traces/read-turn-trace.ts';
import { until } from '../../../../../test/until.ts';

let root: string;
let stateRoot: string;
const running: LaunchedProcess[] = [];

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'agent-process-'));
});
afterEach(() => {
  for (const each of running.splice(0)) void each.kill();
});
afterAll(() => rmSync(root, { recursive: true }));

const locks = { released: Promise.resolve<unknown>(undefined) };

function launch({ stateRoot: given, ...options }: LaunchOptions & { readonly stateRoot?: string } = {}) {
  stateRoot = given ?? join(root, crypto.randomUUID());
  const launched = launchSpare({ ...options, locks });
  running.push(launched);
  return launched;
}

const address = { agentName: 'tester', instanceKey: 'room 7' };
const store = () => ({ stateRoot, workspaceId: 'loop' });

function plan(agent: Partial<AgentStart['agent']> = {}): JsonObject {
  const start: AgentStart = {
    address,
    agent: { agentName: 'tester', models: scripted(), ...agent },
    agents: [{ name: 'tester' }, { name: 'other', description: 'another' }],
    store: store(),
    cwd: join(root, 'scratch'),
    watched: ['delta', 'runtime.event'],
  };
  // The cast is safe: `AgentStart` contains only JSON.
  return start as unknown as JsonObject;
}

function scripted(options: JsonObject = {}): AgentStart['agent']['models'] {
  const script = [{ say: 'You said: {{input}}' }];
  return { 'Model/m': { provider: 'scripted', model: 'm', options: { script, ...options } } };
}

/** A model that answers after a minute. No test waits that long. */
const slow = scripted({ latencyMs: 60_000 });

const event = (id: string, more: Partial<AgentEvent> = {}) =>
  inputEvent(id, { instanceKey: address.instanceKey, ...more });

let lastSeq = 0;
/** Each turn has the next number, as in the inbox. */
const turn = (id: string, more: Partial<AgentEvent> = {}) =>
  ({ type: 'turn', event: event(id, more), seq: (lastSeq += 1) }) as const;

/**
 * Writes an extension to a file, because a plan is JSON and cannot hold a function. The extension finds the test's
 * values under `globalThis.given`.
 */
function extension(source: string, name = 'ext') {
  const folder = join(root, crypto.randomUUID());
  mkdirSync(folder);
  writeFileSync(join(folder, 'index.ts'), source);
  return extensionFile(name, folder, './index.ts');
}

async function ready(options: Parameters<typeof launch>[0] = {}, agent: Partial<AgentStart['agent']> = {}) {
  const launched = launch(options);
  await launched.send({ type: 'start', plan: plan(agent) });
  await launched.first('ready');
  return launched;
}

/** Runs the turn of this event, and returns its end. */
async function runTurn(agent: LaunchedProcess, id: string, more: Partial<AgentEvent> = {}) {
  const { length } = agent.all('turn.done');
  await agent.send(turn(id, more));
  return agent.first('turn.done', length);
}

async function readMessages(): Promise<string[]> {
  const journal = await durableStore(store());
  const { messages } = await journal.read(address);
  await journal.close();
  return messages.map((message) => textOf(message));
}

describe('starting', () => {
  test('moves to its folder and describes its parts, outermost first, kind by kind', async () => {
    const agent = launch();
    const guard = extension(`
      export function register(api) {
        api.pipeline.register('step', (ctx) => ctx.next(), { name: 'inner', priority: 5 });
        api.pipeline.register('step', (ctx) => ctx.next(), { name: 'outer', priority: 1, timeoutMs: 50 });
        api.pipeline.register('turn', (ctx) => ctx.next(), { name: 'whole', mayShortCircuit: true, buffers: true });
        api.tools.register({ name: 'guard__check', description: 'x' }, () => null);
      }`);
    await agent.send({ type: 'start', plan: plan({ extensions: [{ ...guard, tier: 'swarm' }] }) });
    const common = {
      extension: 'ext',
      tier: 'swarm',
      mayShortCircuit: false,
      onError: 'fail',
      buffers: false,
    } as const;
    expect(await agent.first('ready')).toEqual({
      type: 'ready',
      extensions: ['ext'],
      layers: [
        { ...common, kind: 'turn', name: 'whole', priority: 0, mayShortCircuit: true, buffers: true },
        { ...common, kind: 'step', name: 'outer', priority: 1, timeoutMs: 50 },
        { ...common, kind: 'step', name: 'inner', priority: 5 },
      ],
      tools: ['guard__check'],
      registered: [{ name: 'guard__check', extension: 'ext', seenAt: expect.any(String) }],
    });
    expect(agent.folders).toEqual([join(root, 'scratch')]);
  });

  test('reports a failed start with its code, without secrets, and ends the process', async () => {
    const agent = launch();
    const broken = extension(`export function register() { throw new Error('no hunter2-hunter2 here'); }`, 'broken');
    await agent.send({ type: 'start', plan: plan({ extensions: [broken], secrets: ['hunter2-hunter2'] }) });
    const { error } = await agent.first('start.failed');
    expect(error).toMatchObject({ code: 'E_EXT_INIT', message: expect.stringContaining('no *** here') });
    expect(await agent.exited()).toBe(1);
    expect(JSON.stringify(agent.said)).not.toContain('hunter2-hunter2');
    expect(agent.all('ready')).toEqual([]);
  });

  test('masks the secrets of other plans, too: in a failed start, in the log and in results', async () => {
    const secret = 'hunter2-hunter2';
    const failed = launch();
    const broken = extension(`export function register() { throw new Error('no ${secret} here'); }`, 'broken');
    await failed.send({ type: 'start', plan: { ...plan({ extensions: [broken] }), masked: [secret] } });
    expect((await failed.first('start.failed')).error.message).toContain('no *** here');
    const agent = launch();
    const talking = extension(`export function register(api) { api.logger.warn('logs ${secret}'); }`, 'talking');
    const models = scripted({ script: [{ say: 'says hunter2-hunter2' }] });
    await agent.send({ type: 'start', plan: { ...plan({ extensions: [talking], models }), masked: [secret] } });
    await agent.first('ready');
    await runTurn(agent, 'one');
    expect(agent.all('log').map(({ line }) => line.message)).toContain('logs ***');
    expect(JSON.stringify(agent.all('turn.done'))).toContain('says ***');
    expect(JSON.stringify(agent.said)).not.toContain(secret);
  });

  test.each([
    ['register throws', 'E_EXT_INIT', [``, `export function register(): void {`, `  rulez();`, `}`], 3, 3],
    ['register rejects', 'E_EXT_INIT', [`export async function register() {`, `  await 1;`, `  rulez();`, `}`], 3, 3],
    [
      'evaluation throws',
      'E_EXT_LOAD',
      [`const size: number = 1;`, `rulez(size);`, `export const register = 1;`],
      2,
      1,
    ],
    ['syntax is wrong', 'E_EXT_LOAD', [``, `export function register() {`, `  const x = ;`, `}`], 3, 13],
    ['import is missing', 'E_EXT_LOAD', [``, `import { x } from './no.ts';`, `export const register = x;`], 2, 19],
  ])('an extension whose %s fails the start with its place', async (_title, code, lines, line, column) => {
    const agent = launch();
    const broken = extension(lines.join('\n'), 'house-rules');
    await agent.send({ type: 'start', plan: plan({ extensions: [broken], bundleFolder: broken.root }) });
    const place = { file: 'index.ts', line, column };
    const { error } = await agent.first('start.failed');
    expect(JSON.stringify(agent.said)).not.toContain(broken.root);
    expect(error).toMatchObject({ code, message: expect.stringContaining('Extension/house-rules'), place });
    expect(agent.lines()).toMatchObject([
      {
        level: 'error',
        event: 'start.failed',
        place,
        data: { code, stack: expect.stringContaining(`index.ts:${line}:${column}`) },
      },
    ]);
  });

  test('an uncaught error while it starts is a failed start', async () => {
    const agent = launch();
    const hanging = extension(
      `export const register = (api) => (api.logger.info('begins'), new Promise(() => undefined));`,
    );
    await agent.send({ type: 'start', plan: plan({ extensions: [hanging] }) });
    await until(() => agent.lines().some(({ message }) => message === 'begins'));
    agent.throwUncaught('just a text');
    expect((await agent.first('start.failed')).error).toEqual({ code: 'E_AGENT_START', message: 'just a text' });
    expect(await agent.exited()).toBe(1);
  });

  test('a failed start holds no secret: not in its suggestion, and no header for the collector', async () => {
    const agent = launch();
    const hanging = extension(
      `export const register = (api) => (api.logger.info('begins'), new Promise(() => undefined));`,
    );
    const headers = { authorization: 'Bearer swordfish' };
    const telemetry = { endpoint: 'http://localhost:1/', headers, timeoutMs: 1, resource: {}, hasContent: false };
    const start = plan({ extensions: [hanging], secrets: ['hunter2-hunter2'] });
    await agent.send({ type: 'start', plan: { ...start, telemetry } });
    await until(() => agent.lines().some(({ message }) => message === 'begins'));
    const suggestion = 'Change hunter2-hunter2.';
    agent.throwUncaught(new GoondanError('E_EXT_INIT', 'Refused: Bearer swordfish.', { suggestion }));
    const { error } = await agent.first('start.failed');
    expect(error).toMatchObject({ code: 'E_EXT_INIT', message: 'Refused: ***.', suggestion: 'Change ***.' });
    expect(await agent.exited()).toBe(1);
    expect(JSON.stringify(agent.said)).not.toMatch(/hunter2|swordfish/);
  });

  test('a malformed plan is a failed start', async () => {
    const agent = launch();
    await agent.send({ type: 'start', plan: {} });
    expect((await agent.first('start.failed')).error.code).toBe('E_AGENT_START');
  });

  test('pings are answered at any time; other messages wait, in order', async () => {
    const agent = launch();
    const gate = Promise.withResolvers<void>();
    Object.assign(globalThis, { given: { gate: gate.promise } });
    const slowly = extension(`export const register = () => globalThis.given.gate;`);
    await agent.settled();
    await agent.send({ type: 'start', plan: plan({ extensions: [slowly] }) });
    await agent.send({ type: 'turn', event: event('one'), seq: 1 });
    await agent.send({ type: 'turn', event: event('two'), seq: 2 });
    await agent.send({ type: 'ping', n: 2 });
    expect(await agent.first('pong', 1)).toEqual({ type: 'pong', n: 2 });
    expect(agent.all('ready')).toEqual([]);
    gate.resolve();
    await agent.first('turn.done', 1);
    expect(agent.all('turn.done').map(({ eventId }) => eventId)).toEqual(['one', 'two']);
    expect(agent.types().indexOf('ready')).toBeLessThan(agent.types().indexOf('turn.done'));
    await agent.send({ type: 'ping', n: 3 });
    await agent.first('pong', 2);
  });

  test('a message before the plan, or a second plan, is ignored with a warning', async () => {
    const agent = launch();
    await agent.send(turn('early'));
    await agent.send({ type: 'start', plan: plan() });
    await agent.first('ready');
    await agent.send({ type: 'start', plan: plan() });
    await until(() => agent.lines().length === 2);
    expect(agent.lines().map(({ event: name }) => name)).toEqual(['message.ignored', 'message.ignored']);
    expect(agent.all('turn.done')).toEqual([]);
  });

  test('a new conversation needs no journal before its first turn', async () => {
    const agent = launch();
    await agent.send({ type: 'start', plan: { ...plan(), isNew: true } });
    await agent.first('ready');
    expect(agent.journals).toEqual([]);
    expect(textOf((await runTurn(agent, 'one')).result.responseMessage)).toBe('You said: text of one');
    expect(agent.journals).toHaveLength(1);
  });

  test('X-12 an instance that is not new starts with the state it had', async () => {
    const counting = extension(`
      export function register(api) {
        api.pipeline.register('turn', async (ctx) => {
          const count = ((await api.state.get()) ?? 0) + 1;
          await api.state.set(count);
          api.logger.info(String(count));
          return ctx.next();
        });
      }`);
    const countOnce = async (id: string, options: Parameters<typeof launch>[0]) => {
      const agent = await ready(options, { extensions: [counting] });
      await runTurn(agent, id);
      await agent.drained();
      return agent.lines().map(({ message }) => message);
    };
    expect(await countOnce('one', {})).toEqual(['1']);
    expect(await countOnce('two', { stateRoot })).toEqual(['2']);
  });

  test('a spare loads modules while it waits; a process that gets its plan at once does not', async () => {
    const [spare, asked] = [launch(), await ready()];
    await until(() => spare.warmedUp.length > 0);
    await Bun.sleep(100);
    expect([spare.warmedUp.length, asked.warmedUp.length]).toEqual([1, 0]);
  });

  test('more than 1,000 messages while it starts end it', async () => {
    const agent = launch();
    await agent.send({
      type: 'start',
      plan: plan({ extensions: [extension(`export const register = () => new Promise(() => undefined);`)] }),
    });
    const flood = async (from: number, to: number) => {
      for (let n = from; n <= to; n++) await agent.send({ type: 'cancel', eventId: `e${n}`, reason: 'x' });
    };
    await flood(1, 1_000);
    await agent.settled();
    expect(agent.all('start.failed')).toEqual([]);
    await flood(1_001, 1_001);
    expect((await agent.first('start.failed')).error.code).toBe('E_IPC_FULL');
  });
});

describe('a turn', () => {
  test('is answered after its commit, with its usage and its deltas', async () => {
    const agent = await ready();
    const journal = await durableStore(store());
    const { eventId, result, stepCount, usage } = await runTurn(agent, 'one');
    expect({ eventId, stepCount, answer: textOf(result.responseMessage) }).toEqual({
      eventId: 'one',
      stepCount: 1,
      answer: 'You said: text of one',
    });
    expect(usage.totalTokens).toBeGreaterThan(0);
    // Another reader already sees the commit.
    expect((await journal.read(address)).messages).toHaveLength(2);
    const deltas = agent.all('delta');
    expect(deltas.every((each) => each.eventId === 'one')).toBe(true);
    expect(deltas.map(({ delta }) => ('text' in delta ? delta.text : '')).join('')).toBe('You said: text of one');
    expect(agent.types().lastIndexOf('delta')).toBeLessThan(agent.types().indexOf('turn.done'));
    await journal.close();
  });

  test('is answered again when it was handled before, and does not run again', async () => {
    const agent = await ready();
    const { usage, stepCount } = await runTurn(agent, 'one');
    await agent.send(turn('one'));
    const again = await agent.first('turn.done', 1);
    expect(again).toMatchObject({ eventId: 'one', stepCount, usage });
    expect(textOf(again.result.responseMessage)).toBe('You said: text of one');
    expect(await readMessages()).toHaveLength(2);
  });

  test('a dead letter is folded, and nothing of it runs', async () => {
    const noting = extension(`
      export function register(api) {
        api.pipeline.register('turn', (ctx) => { globalThis.given.ran.push(ctx.turnId); return ctx.next(); });
      }`);
    const ran: string[] = [];
    Object.assign(globalThis, { given: { ran } });
    const agent = await ready({}, { extensions: [noting] });
    await agent.send({ ...turn('deadly'), deadLetter: true, takeOvers: 5 });
    const { result } = await agent.first('turn.done');
    const error = { code: 'E_DEAD_LETTER', message: expect.stringContaining('its node 5 times') };
    expect(result).toMatchObject({ finishReason: 'error', error });
    expect(await readMessages()).toEqual(['text of deadly']);
    expect((await runTurn(agent, 'next')).result.finishReason).toBe('text_response');
    expect(ran).toEqual(['turn-next']);
  });

  test('is answered with an error when its answer is too large for the channel', async () => {
    const models = scripted({ script: [{ say: '{{input}}{{input}}' }] });
    const agent = await ready({ limits: { longestFrame: 2_000, longestFile: 6_000 } }, { models });
    await agent.send(turn('big', { input: 'x'.repeat(5_000) }));
    const { result } = await agent.first('turn.done');
    expect(result).toMatchObject({ turnId: 'turn-big', finishReason: 'error', error: { code: 'E_IPC_SIZE' } });
    expect(agent.exits).toEqual([]);
  });

  test('is answered with an error when its result is no longer kept, and the process continues', async () => {
    const wrap = (journal: Journal): Journal => ({
      ...journal,
      open: (at, turnId, input) =>
        turnId === 'turn-old'
          ? Promise.reject(new GoondanError('E_TURN_FORGOTTEN', 'long ago'))
          : journal.open(at, turnId, input),
    });
    const agent = await ready({ wrap });
    expect((await runTurn(agent, 'old')).result).toEqual({
      turnId: 'turn-old',
      finishReason: 'error',
      error: { code: 'E_TURN_FORGOTTEN', message: 'long ago' },
    });
    expect((await runTurn(agent, 'new')).result.finishReason).toBe('text_response');
    expect(agent.exits).toEqual([]);
  });

  test('ends the process with an error when it cannot be saved', async () => {
    const wrap = (journal: Journal): Journal => ({
      ...journal,
      commit: () => Promise.reject(Object.assign(new Error('no room left'), { code: 'E_DISK_FULL' })),
    });
    const agent = await ready({ wrap });
    await agent.send(turn('one'));
    expect(await agent.exited()).toBe(1);
    expect(agent.all('turn.done')).toEqual([]);
    expect(agent.lines()).toContainEqual(
      expect.objectContaining({
        level: 'error',
        event: 'turn.lost',
        message: 'Turn one ended without a result: no room left',
        data: expect.objectContaining({ code: 'E_DISK_FULL' }),
      }),
    );
  });
});

describe('a cancel', () => {
  const cancel = (eventId: string) => ({ type: 'cancel', eventId, reason: 'the caller left' }) as const;

  test('ends the running turn of its event, with its reason', async () => {
    const agent = await ready({}, { models: slow });
    await agent.send(turn('one'));
    await until(() => agent.all('runtime.event').some(({ name }) => name === 'step.started'));
    await agent.send(cancel('one'));
    const { result } = await agent.first('turn.done');
    expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_CANCELLED' } });
    expect(result.error?.message).toContain('the caller left');
  });

  test('keeps the layers of its turn from starting when it comes first', async () => {
    const ran: string[] = [];
    Object.assign(globalThis, { given: { ran } });
    const noting = extension(`
      export function register(api) {
        api.pipeline.register('turn', (ctx) => { globalThis.given.ran.push(ctx.turnId); return ctx.next(); });
      }`);
    const agent = await ready({}, { extensions: [noting] });
    await agent.send(cancel('one'));
    expect((await runTurn(agent, 'one')).result.error?.code).toBe('E_CANCELLED');
    expect(ran).toEqual([]);
    expect(await readMessages()).toEqual([]);
    // The turn has begun then, although nothing of it has run.
    await Promise.all([agent.send(turn('two')), agent.send(cancel('two'))]);
    await until(async () => (await readMessages()).includes('text of two'));
  });
});

describe('calls to other agents', () => {
  const asking = `
    export function register(api) {
      api.pipeline.register('turn', async (ctx) => {
        const { agents } = ctx;
        const sent = await agents.send({ target: 'other', input: 'hi' });
        const { response } = await agents.request({ target: 'other', input: 'how are you?', timeoutMs: 700 });
        const list = await agents.list();
        ctx.metadata.told = JSON.stringify([sent, response, agents.catalog(), list]);
        api.logger.info(ctx.metadata.told);
        return ctx.next();
      });
    }`;

  test('A-01 A-02 go to the orchestrator and come back', async () => {
    const agent = await ready({}, { extensions: [extension(asking)] });
    await agent.send(turn('one'));
    const sent = await agent.first('call');
    expect(sent).toMatchObject({ kind: 'send', to: { agentName: 'other', instanceKey: address.instanceKey } });
    await agent.send({ type: 'call.ended', callId: sent.callId, outcome: { status: 'accepted' } });
    const asked = await agent.first('call', 1);
    expect(asked).toMatchObject({ kind: 'request', timeoutMs: 700, event: { input: 'how are you?' } });
    const result = {
      turnId: 'turn-x',
      finishReason: 'text_response',
      responseMessage: {
        id: 'm',
        data: { role: 'assistant', content: 'fine' },
        metadata: {},
        createdAt: new Date(0),
        source: { type: 'assistant', stepId: 's' },
      },
    } as const;
    await agent.send({ type: 'call.ended', callId: asked.callId, outcome: { status: 'answered', result } });
    const { callId } = await agent.first('agents.list');
    const instances = [{ agentName: 'other', instanceKey: 'default', status: 'idle' }] as const;
    await agent.send({ type: 'agents.listed', callId, instances });
    await agent.first('turn.done');
    const told = agent.lines().find(({ extension: name }) => name === 'ext')?.message ?? '';
    expect(JSON.parse(told)).toEqual([
      { accepted: true },
      'fine',
      [{ name: 'tester' }, { name: 'other', description: 'another' }],
      instances,
    ]);
  });

  test('are cancelled with their turn, also at the orchestrator', async () => {
    const source = asking.replace(/const sent.*/, 'const sent = 0;');
    const agent = await ready({}, { extensions: [extension(source)] });
    await agent.send(turn('one'));
    const { callId } = await agent.first('call');
    await agent.send({ type: 'cancel', eventId: 'one', reason: 'enough' });
    expect(await agent.first('call.cancelled')).toEqual({ type: 'call.cancelled', callId });
    // The turn waits for the tokens of the cancelled call.
    await agent.send({ type: 'call.ended', callId, outcome: { status: 'accepted' } });
    expect((await agent.first('turn.done')).result.error?.code).toBe('E_CANCELLED');
    // An answer that arrives late has no effect.
    await agent.send({ type: 'call.ended', callId, outcome: { status: 'accepted' } });
    await until(() => agent.lines().some(({ event: name }) => name === 'answer.late'));
  });
});

describe('replies in the outbox', () => {
  const replyTo = { target: 'other', correlationId: 'c1' };
  /** Accepts the event through the inbox, because a reply is kept only for such an event. */
  const askedFor = async () => {
    const journal = await durableStore(store());
    await journal.accept(address, event('asked', { replyTo }));
    await journal.close();
  };
  const pendingKeys = async () => {
    const journal = await durableStore(store());
    const entries = await journal.outbox.pending(address);
    await journal.close();
    return entries.map(({ key }) => key);
  };

  test('are sent after ready, and kept until they are taken', async () => {
    const before = await ready();
    await askedFor();
    await runTurn(before, 'asked', { replyTo });
    before.parent.close();
    await before.exited();
    expect(await pendingKeys()).toEqual(['turn-asked']);

    const after = await ready({ stateRoot });
    const reply = await after.first('reply');
    expect(reply.eventId).toBe('asked');
    expect(textOf(reply.result.responseMessage)).toBe('You said: text of asked');
    expect(await pendingKeys()).toEqual(['turn-asked']);
    await after.send({ type: 'reply.taken', eventId: 'asked' });
    await after.drained();
    expect(await pendingKeys()).toEqual([]);
  });

  test('are not sent a second time for its own turns', async () => {
    const agent = await ready();
    await askedFor();
    await runTurn(agent, 'asked', { replyTo });
    await agent.settled();
    expect(agent.all('reply')).toEqual([]);
  });

  test('are read before a turn of this process can add one', async () => {
    const gate = Promise.withResolvers<void>();
    const opened: string[] = [];
    let asked = 0;
    const wrap = (journal: Journal): Journal => ({
      ...journal,
      async hasUnfinished(instance) {
        asked += 1;
        if (asked === 1) await gate.promise;
        return journal.hasUnfinished(instance);
      },
      async open(instance, turnId, input) {
        opened.push(turnId);
        return journal.open(instance, turnId, input);
      },
    });
    const agent = await ready({ wrap });
    await agent.send(turn('one'));
    await agent.settled();
    await Bun.sleep(30);
    expect(opened).toEqual([]);
    gate.resolve();
    await agent.first('turn.done');
    expect([opened, asked]).toEqual([['turn-one'], 1]);
  });

  test('are removed between turns, not during one', async () => {
    const acknowledged: string[] = [];
    const wrap = (journal: Journal): Journal => ({
      ...journal,
      outbox: {
        ...journal.outbox,
        async acknowledge(instance, key) {
          await Bun.sleep(20);
          await journal.outbox.acknowledge(instance, key);
          acknowledged.push(key);
        },
      },
    });
    const agent = await ready({ wrap }, { models: slow });
    await agent.send(turn('slow'));
    await until(() => agent.all('runtime.event').some(({ name }) => name === 'step.started'));
    await agent.send({ type: 'reply.taken', eventId: 'earlier' });
    await agent.settled();
    expect(acknowledged).toEqual([]);
    await agent.send({ type: 'cancel', eventId: 'slow', reason: 'x' });
    await agent.first('turn.done');
    await until(() => acknowledged.length > 0);
    expect(acknowledged).toEqual(['turn-earlier']);
    await agent.send({ type: 'reply.taken', eventId: 'later' });
    await agent.drained();
    expect(acknowledged).toEqual(['turn-earlier', 'turn-later']);
  });
});

describe('an event that is handed ahead', () => {
  const ahead = (id: string) => ({ type: 'turn.ahead', event: event(id), seq: (lastSeq += 1) }) as const;
  /** A layer that writes the turns down, and holds the turn of `one` until \`globalThis.given.gate\` resolves. */
  const holding = () =>
    extension(`
      export function register(api) {
        api.pipeline.register('turn', async (ctx) => {
          globalThis.given.ran.push(ctx.inputEvent.id);
          if (ctx.inputEvent.id === 'one') await globalThis.given.gate;
          return ctx.next();
        });
      }`);

  /** A process that runs the turn of `one` and has `two`. `commits`: the commits so far. */
  async function runOne() {
    const gate = Promise.withResolvers<void>();
    const ran: string[] = [];
    let commits = 0;
    Object.assign(globalThis, { given: { ran, gate: gate.promise } });
    const wrap = (journal: Journal): Journal => ({
      ...journal,
      commit: async (...given) => {
        const committed = await journal.commit(...given);
        commits += 1;
        return committed;
      },
    });
    const agent = await ready({ wrap }, { extensions: [holding()] });
    await agent.send(turn('one'));
    await agent.send(ahead('two'));
    await until(() => ran.length === 1);
    return { agent, ran, release: () => gate.resolve(), commits: () => commits };
  }

  test('begins after the commit of the running turn, without another message', async () => {
    const { agent, ran, release, commits } = await runOne();
    await agent.settled();
    expect([ran, commits()]).toEqual([['one'], 0]);
    release();
    await agent.first('turn.done', 1);
    expect(ran).toEqual(['one', 'two']);
    expect(agent.all('turn.done').map(({ eventId, begins }) => [eventId, begins])).toEqual([
      ['one', 'two'],
      ['two', undefined],
    ]);
    const order = agent.said.flatMap((message) =>
      message.type === 'turn.done' || (message.type === 'runtime.event' && message.name === 'turn.started')
        ? [message.type]
        : [],
    );
    expect(order).toEqual(['runtime.event', 'turn.done', 'runtime.event', 'turn.done']);
    expect(await readMessages()).toEqual([
      'text of one',
      'You said: text of one',
      'text of two',
      'You said: text of two',
    ]);
  });

  test('does not begin in a process that was asked to end', async () => {
    const { agent, ran, release } = await runOne();
    await agent.send({ type: 'drain', graceMs: 5_000 });
    await agent.settled();
    release();
    await agent.first('drained');
    expect(agent.all('turn.done').map(({ eventId, begins }) => [eventId, begins])).toEqual([['one', undefined]]);
    expect(ran).toEqual(['one']);
    expect(await readMessages()).toEqual(['text of one', 'You said: text of one']);
  });

  test('is ignored, if it arrives after the process was asked to end', async () => {
    const { agent, ran, release } = await runOne();
    await agent.send({ type: 'drain', graceMs: 5_000 });
    await agent.send(ahead('three'));
    await agent.settled();
    release();
    await agent.first('drained');
    expect(agent.all('turn.done').map(({ eventId, begins }) => [eventId, begins])).toEqual([['one', undefined]]);
    expect(ran).toEqual(['one']);
  });

  test('is finished, if it was announced before the process was asked to end', async () => {
    const { agent, ran, release } = await runOne();
    // The drain arrives while the result, which announces the event, is on its way.
    agent.parent.onMessage((message) => {
      if (message.type === 'turn.done' && message.begins === 'two') void agent.send({ type: 'drain', graceMs: 5_000 });
    });
    release();
    await agent.first('drained');
    expect(agent.all('turn.done').map(({ eventId }) => eventId)).toEqual(['one', 'two']);
    expect(ran).toEqual(['one', 'two']);
    expect(await agent.exited()).toBe(0);
  });

  test('R-07 does not begin after it was taken back, and the process says so; it begins when it is sent again', async () => {
    const { agent, ran, release } = await runOne();
    await agent.send({ type: 'turn.back', eventId: 'two' });
    expect(await agent.first('turn.returned')).toEqual({ type: 'turn.returned', eventId: 'two' });
    release();
    await agent.first('turn.done');
    await agent.settled();
    expect([ran, agent.all('turn.done').map(({ begins }) => begins)]).toEqual([['one'], [undefined]]);
    await runTurn(agent, 'two');
    expect(ran).toEqual(['one', 'two']);
  });

  test('R-07 is returned after the message that announces it, if it was announced before it was taken back', async () => {
    const { agent, ran, release } = await runOne();
    agent.parent.onMessage((message) => {
      if (message.type === 'turn.done' && message.begins === 'two')
        void agent.send({ type: 'turn.back', eventId: 'two' });
    });
    release();
    await agent.first('turn.returned');
    expect(agent.all('turn.done')[0]).toMatchObject({ eventId: 'one', begins: 'two' });
    await agent.first('turn.done', 1);
    expect(ran).toEqual(['one', 'two']);
  });
});

describe('a process that nobody watches', () => {
  test('sends only the beginning and the result of a turn, and the turn so far to a watcher that comes in its middle', async () => {
    const agent = launch();
    const script = [{ afterTool: 'wait__here', say: 'back' }, { call: { tool: 'wait__here', args: {} } }];
    const called = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    Object.assign(globalThis, { given: { called: called.resolve, goOn: goOn.promise } });
    const waiting = extension(`
      export function register(api) {
        api.tools.register({ name: 'wait__here', description: 'waits' }, async () => {
          globalThis.given.called();
          await globalThis.given.goOn;
          return 'here';
        });
      }`);
    const start = plan({ models: scripted({ script }), extensions: [waiting] });
    await agent.send({ type: 'start', plan: { ...start, watched: [] } });
    await agent.send(turn('one'));
    await called.promise;
    expect(agent.types()).toEqual(['ready', 'turn.begun']);
    await agent.send({ type: 'watch', kinds: ['delta'], soFar: true });
    const { events } = await agent.first('so.far');
    expect(events.map(({ name }) => name)).toEqual(['turn.started', 'step.started', 'tool.called']);
    goOn.resolve();
    await agent.first('turn.done');
    expect(agent.all('delta').map(({ delta }) => ('text' in delta ? delta.text : ''))).toEqual(['back']);
    await agent.send({ type: 'watch', kinds: [] });
    await runTurn(agent, 'two');
    const second = ['turn.begun', 'turn.done'] as const;
    expect(agent.types()).toEqual(['ready', 'turn.begun', 'so.far', 'delta', 'turn.done', ...second]);
  });
});

describe('runtime events', () => {
  test('hold no secret, even if a model wrote it', async () => {
    const secret = 'swordfish-swordfish';
    const script = [{ afterTool: secret, say: 'done' }, { call: { tool: secret, args: {} } }];
    const agent = await ready({}, { models: scripted({ script }), secrets: [secret] });
    await runTurn(agent, 'one');
    const told = agent.all('runtime.event');
    expect(told.map(({ name }) => name)).toContain('tool.called');
    expect(JSON.stringify(told)).not.toContain(secret);
  });

  test('are sent, and written to the file in order, with secrets masked', async () => {
    const secret = 'swordfish-swordfish';
    const failing = extension(`
      export function register(api) {
        api.pipeline.register('step', () => { throw new Error('the key is ${secret}'); });
        api.events.on('turn.started', () => api.events.emit('turn.completed', { forged: true }));
      }`);
    const agent = await ready({}, { extensions: [failing], secrets: [secret] });
    await runTurn(agent, 'one');
    await agent.drained();
    const told = agent.all('runtime.event').map(({ name, payload }) => ({ name, payload }));
    expect(told.map(({ name }) => name)).toEqual(['turn.started', 'step.started', 'step.failed', 'turn.failed']);
    expect(told[2]?.payload).toMatchObject({ error: { message: 'the key is ***' } });
    const path = `${logsFolder(workspaceFolder(stateRoot, 'loop'))}/runtime-events.000001.jsonl`;
    const lines = readFileSync(path, 'utf8').trim().split(/\n+/);
    // The cast is safe: this test knows the format of the file.
    const written = lines.map((line) => JSON.parse(line) as { time: string; name: string; payload: JsonObject });
    expect(written.map(({ name, payload }) => ({ name, payload }))).toEqual(told);
    expect(written.every(({ time }) => !Number.isNaN(Date.parse(time)))).toBe(true);
  });
});

describe('traces', () => {
  const place = () => ({ stateRoot, workspaceId: 'loop' });
  const traces = () => tracesFolder(workspaceFolder(stateRoot, 'loop'));

  test('R-08 are written for every turn, found by its ids, with secrets masked', async () => {
    const secret = 'swordfish-swordfish';
    const leaky = extension(`
      const secret = '${secret}';
      export function register(api) {
        api.tools.register({ name: 'leak__it', description: secret }, () => ({ [secret]: secret.repeat(500) }));
        api.pipeline.register('turn', (ctx) => {
          ctx.emitMessageEvent({ type: 'append', message: {
            id: secret, data: { role: 'system', content: 'x'.repeat(1990) + secret }, metadata: {},
            createdAt: new Date(), source: { type: 'extension', extensionName: 'ext' } } });
          return ctx.next();
        }, { name: secret });
        api.pipeline.register('step', (ctx) => { ctx.toolCatalog = []; return ctx.next(); });
        api.pipeline.register('model', (ctx) => { ctx.params = { [secret]: secret }; return ctx.next(); });
        api.pipeline.register('toolCall', () => { throw new Error('x'.repeat(990) + secret); });
      }`);
    const script = [{ afterTool: 'leak__it', say: secret }, { call: { tool: 'leak__it', args: { secret } } }];
    const agent = await ready({}, { models: scripted({ script }), extensions: [leaky], secrets: [secret] });
    await agent.send(turn('one', { input: `${'x'.repeat(195)}${secret}` }));
    await agent.first('turn.done');
    await agent.drained();
    const names = readdirSync(traces());
    expect(names).toHaveLength(1);
    const path = join(traces(), names[0] ?? '');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    // Where a text was cut, not even the beginning of a secret may remain.
    expect(`${names[0]}${readFileSync(path, 'utf8')}`).not.toContain('swor');
    for (const id of ['turn-one', 'trace-one', 'one']) {
      const { turns } = await readTurnTrace(place(), id);
      expect(turns).toMatchObject([{ turnId: 'turn-one', ...address, finishReason: 'text_response', resumes: 0 }]);
      const [step] = turns[0]?.chain.inside ?? [];
      expect(step?.layers[0]?.changed.map(({ path: changed }) => changed)).toEqual(['toolCatalog.leak__it']);
      expect(step?.inside.map(({ kind, error }) => [kind, error?.slice(-3)])).toEqual([
        ['model', undefined],
        ['toolCall', '***'],
      ]);
    }
  });

  test('are not written when the policy says off', async () => {
    const agent = await ready({}, { policy: { trace: 'off' } });
    await runTurn(agent, 'one');
    await agent.drained();
    expect(existsSync(traces())).toBe(false);
  });

  test('fail no turn when they cannot be written; one warning is logged', async () => {
    const wrap = (journal: Journal): Journal => ({
      ...journal,
      openTraces: () => Promise.reject(new Error('no room')),
    });
    const agent = await ready({ wrap });
    for (const id of ['one', 'two'])
      expect((await runTurn(agent, id)).result).toMatchObject({ finishReason: 'text_response' });
    await agent.drained();
    const said = agent.lines().filter(({ event: name }) => name === 'traces.not_written');
    expect(said.map(({ message }) => message)).toEqual(['Traces cannot be written: no room']);
  });

  test('say that a turn was resumed after a crash, and keep the earlier lines', async () => {
    const script = [{ afterTool: 'wait__here', say: 'back' }, { call: { tool: 'wait__here', args: {} } }];
    // The tool's first run never ends.
    const waiting = extension(`
      let isFirst = !globalThis.hasWaited;
      export function register(api) {
        api.tools.register({ name: 'wait__here', description: 'waits' }, () => {
          globalThis.hasWaited = true;
          return isFirst ? new Promise(() => undefined) : 'here';
        });
        api.pipeline.register('toolCall', (ctx) => ctx.next(), { name: 'around' });
      }`);
    const agent = await ready({}, { models: scripted({ script }), extensions: [waiting] });
    await agent.send(turn('one'));
    await until(() => agent.all('runtime.event').some(({ name }) => name === 'tool.called'));
    // The lines of the call are written after the model's answer, which names the tool, too.
    await until(async () => {
      const trace = await readTurnTrace(place(), 'turn-one').catch(() => undefined);
      return trace?.turns[0]?.chain.inside[0]?.inside[1]?.layers[0] !== undefined;
    });
    const half = await readTurnTrace(place(), 'turn-one');
    expect(half.turns[0]).not.toHaveProperty('finishReason');
    expect(half.turns[0]?.chain.inside[0]?.inside[1]).toMatchObject({
      kind: 'toolCall',
      isUnfinished: true,
      layers: [{ name: 'around', outcome: 'running' }],
    });
    for (const each of running.splice(0)) void each.kill();

    const next = launch({ stateRoot });
    await next.send({ type: 'start', plan: plan({ models: scripted({ script }), extensions: [waiting] }) });
    await next.first('ready');
    expect((await runTurn(next, 'one')).result.turnId).toBe('turn-one');
    await next.drained();
    const [whole] = (await readTurnTrace(place(), 'turn-one')).turns;
    expect(whole).toMatchObject({ resumes: 1, finishReason: 'text_response' });
    expect(whole?.chain.inside.map(({ label, isUnfinished }) => [label, isUnfinished])).toEqual([
      ['0', true],
      ['0', undefined],
      ['1', undefined],
    ]);
    expect((await listTurns(place())).map(({ turnId, resumes }) => [turnId, resumes])).toEqual([['turn-one', 1]]);
  });

  test('have the end of a turn that never reached its layers, and nothing more for one that was handled before', async () => {
    const agent = await ready();
    await agent.send({ ...turn('dead'), deadLetter: true });
    await agent.first('turn.done');
    await agent.send({ ...turn('dead'), deadLetter: true });
    await agent.first('turn.done', 1);
    await agent.drained();
    const { turns } = await readTurnTrace(place(), 'turn-dead');
    expect(turns).toMatchObject([
      { finishReason: 'error', error: expect.stringContaining('E_DEAD_LETTER'), resumes: 0 },
    ]);
    const [name = ''] = readdirSync(traces());
    expect(readFileSync(join(traces(), name), 'utf8').match(/"type":"start"/g)).toHaveLength(1);
  });
});

describe('the end of a process', () => {
  test('R-07 X-17 a drain lets the turn finish, cleans up within the grace, and reports it last', async () => {
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    Object.assign(globalThis, { given: { gate: gate.promise, order } });
    const cleaning = extension(`
      export function register(api) {
        api.pipeline.register('turn', async (ctx) => { await globalThis.given.gate; return ctx.next(); });
        process.on('beforeExit', async () => { await Bun.sleep(5); globalThis.given.order.push('beforeExit'); });
        return async () => { await Bun.sleep(5); globalThis.given.order.push('cleanup'); };
      }`);
    const agent = await ready({}, { extensions: [cleaning] });
    await agent.send(turn('one'));
    await agent.send({ type: 'drain', graceMs: 10_000 });
    await agent.send(turn('refused'));
    await until(() => agent.lines().some(({ event: name }) => name === 'message.ignored'));
    expect([agent.all('turn.done'), order]).toEqual([[], []]);
    gate.resolve();
    await agent.first('drained');
    expect(order).toEqual(['cleanup', 'beforeExit']);
    expect(agent.types().indexOf('turn.done')).toBeGreaterThan(0);
    expect(agent.types().at(-1)).toBe('drained');
    expect(await agent.exited()).toBe(0);
    expect(agent.all('turn.done').map(({ eventId }) => eventId)).toEqual(['one']);
  });

  test('a turn that does not end within the grace is left to be killed: no drained message is sent', async () => {
    const agent = await ready({}, { models: slow });
    await agent.send(turn('one'));
    await agent.send({ type: 'drain', graceMs: 50 });
    await until(() => agent.lines().some(({ event: name }) => name === 'drain.late'));
    expect(agent.all('drained')).toEqual([]);
    expect(agent.exits).toEqual([]);
  });

  test('a process that is not killed ends by itself after a while', async () => {
    const clock = manualClock();
    const agent = await ready({ clock }, { models: slow });
    await agent.send(turn('one'));
    await until(() => agent.all('runtime.event').some(({ name }) => name === 'step.started'));
    await agent.send({ type: 'drain', graceMs: 50 });
    await clock.advance(150);
    await until(() => agent.lines().some(({ event: name }) => name === 'drain.late'));
    await clock.advance(4_000);
    expect(agent.exits).toEqual([]);
    await clock.advance(2_000);
    expect(agent.exits[0]).toBe(1);
  });

  test('SIGTERM is a drain, also before there is a plan', async () => {
    const idle = await ready();
    idle.terminate();
    idle.terminate();
    await idle.first('drained');
    expect(await idle.exited()).toBe(0);
    const spare = launch();
    await spare.send({ type: 'drain', graceMs: 100 });
    await spare.first('drained');
    expect(await spare.exited()).toBe(0);
  });

  test('a drain while it starts waits for the start', async () => {
    const gate = Promise.withResolvers<void>();
    Object.assign(globalThis, { given: { gate: gate.promise } });
    const agent = launch();
    const slowly = extension(`export const register = () => globalThis.given.gate;`);
    await agent.send({ type: 'start', plan: plan({ extensions: [slowly] }) });
    await agent.send({ type: 'drain', graceMs: 10_000 });
    await Bun.sleep(20);
    expect(agent.types()).toEqual([]);
    gate.resolve();
    await agent.first('drained');
    expect(agent.types()).toEqual(['ready', 'drained']);
  });

  test('a process without its orchestrator ends at once', async () => {
    const agent = await ready({}, { models: slow });
    await agent.send(turn('one'));
    agent.parent.close();
    expect(await agent.exited()).toBe(1);
  });

  test.each([
    ['an error', new TypeError('x is not a function'), 'x is not a function'],
    ['a text', 'oops', 'oops'],
    ['nothing', undefined, 'undefined'],
    [
      'an object that refuses to be looked at',
      {
        get message() {
          throw new Error('no');
        },
        toJSON() {
          throw new Error('no');
        },
      },
      'cannot be shown',
    ],
  ])('%s that is not caught is logged, and ends the process', async (_, thrown, message) => {
    const agent = await ready();
    agent.throwUncaught(thrown);
    agent.throwUncaught(new Error('a second one'));
    expect(await agent.exited()).toBe(1);
    expect(agent.lines()).toEqual([
      expect.objectContaining({ level: 'error', event: 'process.uncaught', message: expect.stringContaining(message) }),
    ]);
  });

  test('a malformed frame is logged, and ends the process', async () => {
    const agent = await ready({ encode: (frame) => frame.replace('"n":1', '"n":"one"') });
    await agent.send({ type: 'ping', n: 1 });
    expect(await agent.exited()).toBe(1);
    expect(agent.lines()).toMatchObject([{ level: 'error', event: 'frame.refused', data: { code: 'E_IPC_FRAME' } }]);
  });

  test('a malformed frame during the start fails the start', async () => {
    const agent = launch({ encode: (frame) => frame.replace('"n":1', '"n":"one"') });
    void agent.send({ type: 'start', plan: plan() });
    void agent.send({ type: 'ping', n: 1 });
    expect(await agent.first('start.failed')).toMatchObject({ error: { code: 'E_IPC_FRAME' } });
    expect(await agent.exited()).toBe(1);
  });
});

describe('a change', () => {
  const counting = `
    export function register(api) {
      api.pipeline.register('step', (ctx) => ctx.next(), { name: 'counted' });
    }`;
  // The cast is safe: a declared agent contains only JSON.
  const wanted = (agent: Partial<AgentStart['agent']> = {}) =>
    ({ agentName: 'tester', models: scripted(), ...agent }) as unknown as JsonObject;

  test('that arrives while the agent starts is prepared after the start', async () => {
    const agent = launch();
    await agent.send({ type: 'start', plan: plan() });
    await agent.send({ type: 'change.prepare', change: 1, plan: wanted({ extensions: [extension(counting)] }) });
    await agent.first('change.ready');
    expect(agent.types().filter((type) => type !== 'log')).toEqual(['ready', 'change.ready']);
    await agent.send({ type: 'change.swap', change: 1 });
    const described = await agent.first('described');
    expect(described.layers).toMatchObject([{ extension: 'ext', name: 'counted' }]);
    expect(agent.types().indexOf('change.swapped')).toBeLessThan(agent.types().indexOf('described'));
  });

  test('that is dropped while it is prepared is given up: nothing is reported, and the next one is prepared', async () => {
    const agent = await ready();
    const hanging = extension(
      `export const register = (api) => (api.logger.info('begins'), new Promise(() => undefined));`,
    );
    await agent.send({ type: 'change.prepare', change: 1, plan: wanted({ extensions: [hanging] }) });
    await until(() => agent.lines().some(({ message }) => message === 'begins'));
    await agent.send({ type: 'change.drop', change: 1 });
    await agent.send({ type: 'change.prepare', change: 2, plan: wanted({ systemPrompt: 'New.' }) });
    expect(await agent.first('change.ready')).toEqual({ type: 'change.ready', change: 2 });
    expect(agent.all('change.failed')).toEqual([]);
    await agent.send({ type: 'change.swap', change: 1 });
    await until(() => agent.lines().some(({ event: name }) => name === 'message.ignored'));
  });

  test('with the first code of the bundle prepares the process for it, once', async () => {
    const agent = await ready();
    expect(agent.readied).toEqual([]);
    for (const change of [1, 2]) {
      const extensions = [extension(`${counting} // ${change}`)];
      await agent.send({ type: 'change.prepare', change, plan: wanted({ extensions }) });
      await agent.first('change.ready', change - 1);
      await agent.send({ type: 'change.swap', change });
      await agent.first('change.swapped', change - 1);
    }
    expect(agent.readied).toEqual(['packages', 'draws']);
  });

  test('that is dropped leaves the process free for the next one, before and after it is ready', async () => {
    const agent = await ready();
    // The second message arrives before the change is prepared, and nothing of the change can be given up.
    const prepared = agent.send({ type: 'change.prepare', change: 1, plan: wanted({ systemPrompt: 'One.' }) });
    await Promise.all([prepared, agent.send({ type: 'change.drop', change: 1 })]);
    await agent.send({ type: 'change.prepare', change: 2, plan: wanted({ systemPrompt: 'Two.' }) });
    expect(await agent.first('change.ready')).toEqual({ type: 'change.ready', change: 2 });
    await agent.send({ type: 'change.drop', change: 2 });
    await agent.send({ type: 'change.prepare', change: 3, plan: wanted({ systemPrompt: 'Three.' }) });
    expect(await agent.first('change.ready', 1)).toEqual({ type: 'change.ready', change: 3 });
    expect(agent.all('change.failed')).toEqual([]);
  });

  test('that fails is reported with its code and place, without secrets, and changes nothing', async () => {
    const agent = await ready();
    const broken = extension(
      `export function register() {\n  throw new Error('no hunter2-hunter2 here');\n}`,
      'broken',
    );
    await agent.send({
      type: 'change.prepare',
      change: 1,
      plan: wanted({ extensions: [broken], secrets: ['hunter2-hunter2'], systemPrompt: 'New.' }),
    });
    expect(await agent.first('change.failed')).toEqual({
      type: 'change.failed',
      change: 1,
      error: {
        code: 'E_EXT_INIT',
        message: expect.stringContaining('no *** here'),
        place: { file: 'index.ts', line: 2, column: expect.any(Number) },
      },
    });
    expect(JSON.stringify(agent.said)).not.toContain('hunter2-hunter2');
    expect(textOf((await runTurn(agent, 'one')).result.responseMessage)).toBe('You said: text of one');
  });

  test('L-01 the record of a turn names the extensions of the plan at its start', async () => {
    const agent = await ready();
    await runTurn(agent, 'one');
    await agent.send({ type: 'change.prepare', change: 1, plan: wanted({ extensions: [extension(counting)] }) });
    await agent.first('change.ready');
    await agent.send({ type: 'change.swap', change: 1 });
    await runTurn(agent, 'two');
    await agent.drained();
    const traces = tracesFolder(workspaceFolder(stateRoot, 'loop'));
    const begun = readdirSync(traces, { recursive: true, encoding: 'utf8' })
      .filter((file) => statSync(join(traces, file)).isFile())
      .flatMap((file) => readFileSync(join(traces, file), 'utf8').split('\n'))
      .filter((line) => line.includes('"beginning"'));
    const names = (id: string) => begun.find((line) => line.includes(`"id":"${id}"`))?.includes('"name":"ext"');
    expect([names('one'), names('two')]).toEqual([false, true]);
  });
});
