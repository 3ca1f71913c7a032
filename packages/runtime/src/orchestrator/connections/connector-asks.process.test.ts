// Tests `ctx.ask` with real processes: a connector that answers HTTP requests with answers of the swarm.
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectorAcceptance, ConnectorAnswer, JsonObject, TurnDelta } from '@goondan/types';
import type { DeclaredExtension } from '../../config/declared-extension.ts';
import type { Swarm } from '../../control/swarm.ts';
import type { LogLine } from '../../ports/log-line.ts';
import { startSwarm } from '../../start-swarm.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { testInProof } from '../../../../../test/samples.ts';
import { until } from '../../../../../test/until.ts';

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), 'connector-asks-'));
const bundle = join(folder, 'bundle');
mkdirSync(bundle);
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * This connector accepts a POST with an event and its options, and responds with the notices and the outcome. With
 * `?leave` it disconnects as soon as the event is accepted.
 */
writeFileSync(
  join(bundle, 'asking.ts'),
  `import type { Connector } from '@goondan/types';
  const connector: Connector = async ({ ask, logger, signal, agents, folder }) => {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      async fetch(request) {
        if (request.method === 'GET') return Response.json({ agents, folder });
        const told = { deltas: [] };
        const leaving = new AbortController();
        const leave = new URL(request.url).searchParams.get('leave');
        const options = {
          signal: leaving.signal,
          cancelOnAbort: leave === 'cancel',
          onAccepted: (acceptance) => {
            told.acceptance = acceptance;
            if (leave !== null) leaving.abort(new Error('left'));
          },
          onDelta: (delta) => told.deltas.push(delta),
        };
        try {
          told.answer = await ask(await request.json(), options);
        } catch (error) {
          told.error = { code: error.code, message: error.message };
        }
        return Response.json(told);
      },
    });
    signal.addEventListener('abort', () => void server.stop());
    logger.info('port %d', server.port);
  };
  export default connector;`,
);
writeFileSync(
  join(bundle, 'guard.ts'),
  `export function register(api) {
    const guard = async (ctx) => {
      const result = await ctx.next();
      return { ...result, responseMessage: undefined };
    };
    api.pipeline.register('turn', guard, { buffers: true });
  }`,
);
writeFileSync(
  join(bundle, 'slow.ts'),
  `export const handlers = {
    wait: (ctx) => new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 60_000);
      ctx.signal.addEventListener('abort', () => { clearTimeout(timer); reject(ctx.signal.reason); });
    }),
    nap: () => Bun.sleep(1_500).then(() => 'rested'),
  };`,
);

interface Told {
  readonly acceptance?: ConnectorAcceptance;
  readonly deltas: readonly TurnDelta[];
  readonly answer?: ConnectorAnswer;
  readonly error?: { readonly code?: string; readonly message: string };
}

const script = [
  { when: 'wait', call: { tool: 'slow__wait', args: {} } },
  { when: 'nap', call: { tool: 'slow__nap', args: {} } },
  { when: 'fail', fail: { message: 'overloaded' } },
  { afterTool: 'slow__nap', say: 'Rested.' },
  { say: 'You said: {{input}}' },
];
const tool = {
  name: 'slow',
  root: bundle,
  entry: 'slow.ts',
  exports: [
    { name: 'wait', description: 'Waits.' },
    { name: 'nap', description: 'Sleeps a little.' },
  ],
};
const guard: DeclaredExtension = {
  resource: {
    apiVersion: 'goondan.ai/v1',
    kind: 'Extension',
    metadata: { name: 'guard' },
    spec: { entry: 'guard.ts' },
  },
  root: bundle,
};

const running: Swarm[] = [];
afterEach(async () => {
  for (const swarm of running.splice(0)) await swarm.stop({ graceMs: 0 });
});

async function open(stateRoot = mkdtempSync(join(folder, 'state-'))) {
  const lines: LogLine[] = [];
  const models = {
    'Model/scripted': { provider: 'scripted', model: 'test', options: { script: script as unknown as JsonObject[] } },
  };
  const swarm = await startSwarm({
    name: 'asked',
    workspace: 'asked',
    stateRoot,
    agents: [
      { agentName: 'clerk', models, tools: [tool] },
      { agentName: 'guarded', models, extensions: [guard] },
    ],
    connections: [
      {
        connection: 'door',
        connector: 'asking',
        root: bundle,
        entry: 'asking.ts',
        events: ['question'],
        config: {},
        secrets: {},
        rules: [
          { match: { properties: { to: 'guarded' } }, route: { agentRef: 'Agent/guarded' } },
          { match: { event: 'question' }, route: { instanceKeyProperty: 'chat' } },
        ],
      },
    ],
    onLog: (line) => void lines.push(line),
  });
  running.push(swarm);
  const ports = () =>
    lines.flatMap(({ connection, message }) =>
      connection === 'door' && message.startsWith('port ') ? [message.slice(5)] : [],
    );
  const port = (nth = 0) => until(() => ports()[nth], { about: 'the port of the connector' });
  const ask = async (event: JsonObject, query = '', nth = 0): Promise<Told> => {
    const body = { name: 'question', properties: { chat: 'kim' }, ...event };
    const url = `http://127.0.0.1:${await port(nth)}/${query}`;
    // The cast is safe: the connector of this test responds in this form.
    return (await (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json()) as Told;
  };
  return { swarm, ask, port, lines, stateRoot };
}

const kim = { agent: 'clerk', instanceKey: 'kim' };
describe('an ask of a connector', () => {
  test('takes the normal way into the inbox, and its deltas and its end come back', async () => {
    const { ask, stateRoot, port } = await open();
    const traceId = 'abcd'.repeat(8);
    const told = await ask({ input: 'hello', auth: { user: 'kim' }, traceId });
    const acceptance = { ...kim, turnId: expect.stringMatching(/^turn-heard-/), traceId, duplicate: false };
    expect(told.acceptance).toEqual(acceptance);
    expect(told.answer).toEqual({
      ...acceptance,
      response: 'You said: hello',
      finishReason: 'text_response',
      usage: expect.objectContaining({ totalTokens: expect.any(Number) }),
    });
    expect(told.answer?.usage.outputTokens).toBeGreaterThan(0);
    expect(told.deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('')).toBe('You said: hello');
    const store = await durableStore({ stateRoot, workspaceId: 'asked', warn: () => undefined });
    const { messages } = await store.read({ agentName: 'clerk', instanceKey: 'kim' });
    expect(messages.map(({ data }) => data.role)).toEqual(['user', 'assistant']);
    await store.close();
    const { agents, folder: own } = (await (await fetch(`http://127.0.0.1:${await port()}/`)).json()) as JsonObject;
    expect(agents).toEqual(['guarded', 'clerk']);
    expect(own).toBe(join(stateRoot, 'workspaces', 'asked', 'connections', 'door'));
  });

  test('is rejected like any event, and nothing is accepted', async () => {
    const { ask, lines, swarm } = await open();
    expect((await ask({ name: 'gossip' })).error?.code).toBe('E_CONNECTOR_EVENT');
    expect((await ask({ properties: {} })).error?.code).toBe('E_INGRESS_KEY');
    expect(await swarm.instances()).toEqual([]);
    expect(lines.map(({ event }) => event)).toContain('event.refused');
  });

  test('a failed turn is an answer with its error', async () => {
    const { ask } = await open();
    const { answer } = await ask({ input: 'fail' });
    expect(answer).toMatchObject({
      response: '',
      finishReason: 'error',
      error: { message: expect.stringContaining('overloaded') },
    });
  });

  testInProof('the same id is the same turn: the answer is repeated, also after a restart', async () => {
    const first = await open();
    const event = { input: 'hello', id: 'delivery-1' };
    const [one, two] = await Promise.all([first.ask(event), first.ask({ ...event, input: 'changed' })]);
    // Either of the two events may arrive first.
    expect(one.answer?.response).toMatch(/^You said: (?:hello|changed)$/);
    expect(two.answer?.response).toBe(one.answer?.response ?? '');
    expect(one.acceptance?.duplicate).not.toBe(two.acceptance?.duplicate);
    await first.swarm.stop();
    const second = await open(first.stateRoot);
    const again = await second.ask(event);
    expect(again.answer).toMatchObject({
      response: one.answer?.response,
      duplicate: true,
      usage: { totalTokens: one.answer?.usage.totalTokens },
    });
  });

  test('nothing is streamed while a layer buffers, and then only the text that the layer made', async () => {
    const { ask } = await open();
    const { answer, deltas } = await ask({ input: 'secret', properties: { to: 'guarded' } });
    expect([answer?.agent, answer?.response, deltas]).toEqual(['guarded', '', []]);
  });
});

describe('a connector that leaves', () => {
  test('leaves the turn running', async () => {
    const { ask, swarm } = await open();
    const ended = Promise.withResolvers<string>();
    await swarm.watch({ types: ['turn.ended'] }, (notice) => {
      if (notice.type === 'turn.ended') ended.resolve(notice.end.result.finishReason);
    });
    expect((await ask({ input: 'nap' }, '?leave')).error?.message).toBe('left');
    expect(await ended.promise).toBe('text_response');
  });

  test('may cancel the turn', async () => {
    const { ask, swarm } = await open();
    const ended = Promise.withResolvers<string | undefined>();
    await swarm.watch({ types: ['turn.ended'] }, (notice) => {
      if (notice.type === 'turn.ended') ended.resolve(notice.end.result.error?.code);
    });
    expect((await ask({ input: 'wait' }, '?leave=cancel')).error?.message).toBe('left');
    expect(await ended.promise).toBe('E_CANCELLED');
  });

  testInProof('by a crash leaves the turn running, and gets the answer by asking again', async () => {
    const { ask, swarm } = await open();
    const event = { input: 'nap', id: 'delivery-1' };
    const asked = ask(event).catch(() => 'cut off');
    await until(async () => (await swarm.status()).instances.some(({ status }) => status === 'working'));
    process.kill((await swarm.status()).connections[0]?.pid ?? 0, 'SIGKILL');
    expect(await asked).toBe('cut off');
    expect((await ask(event, '', 1)).answer).toMatchObject({ response: 'Rested.', duplicate: true });
  });
});

describe('a swarm that stops', () => {
  test('R-07 lets an awaited turn finish', async () => {
    const { ask, swarm } = await open();
    const asked = ask({ input: 'nap' });
    await until(async () => (await swarm.status()).instances.some(({ status }) => status === 'working'));
    await swarm.stop({ graceMs: 40_000 });
    expect((await asked).answer?.response).toBe('Rested.');
  });

  testInProof('tells waiting callers that the time is over', async () => {
    const { ask, swarm } = await open();
    const asked = ask({ input: 'wait' });
    await until(async () => (await swarm.status()).instances.some(({ status }) => status === 'working'));
    await swarm.stop({ graceMs: 3_000 });
    expect((await asked).error?.code).toBe('E_SWARM_STOPPED');
  });
});
