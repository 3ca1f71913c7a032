import { describe, expect, test } from 'bun:test';
import type { AgentEvent, ExtensionApi, RuntimeView } from '@goondan/types';
import {
  extension,
  inProcessEngine,
  manualClock,
  type ScriptedAgentOptions,
  scriptedAgent,
} from '../../testing/index.ts';
import { oneLayer } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather of a city.', parameters: { type: 'object' } }],
  handlers: { get: () => 'sunny' },
};

const event: Partial<AgentEvent> = {
  id: 'e1',
  createdAt: new Date('2026-01-02T03:04:05.000Z'),
  source: { kind: 'connector', name: 'front-door' },
  auth: { token: 'who-it-is' },
  metadata: { chat: { id: 7 } },
  replyTo: { target: 'boss', correlationId: 'c1' },
  callChain: [{ agentName: 'boss', instanceKey: 'default' }],
};

interface Seen {
  readonly kind: 'turn' | 'step';
  readonly runtime: RuntimeView;
}

/** Runs turns of two steps each, and returns `ctx.runtime` of every turn and step layer. */
async function look(
  options: ScriptedAgentOptions = {},
  turns = 1,
  more: (api: ExtensionApi) => void = () => undefined,
) {
  const engine = inProcessEngine(manualClock());
  for (const name of ['coder', 'cook']) engine.add(name, async () => ({ turnId: '', finishReason: 'text_response' }));
  const seen: Seen[] = [];
  const agent = await scriptedAgent({
    agentName: 'coder',
    description: 'Writes code.',
    instanceKey: 'room-1',
    tools: [weather],
    engine,
    connections: [{ name: 'front-door', connector: 'web' }],
    script: [{ when: 'weather', call: { tool: 'weather__get' } }, { say: 'Done.' }],
    extensions: [
      extension('looker', (api) => {
        const { pipeline } = api;
        pipeline.register('turn', (ctx) => (seen.push({ kind: 'turn', runtime: ctx.runtime }), ctx.next()));
        pipeline.register('step', (ctx) => (seen.push({ kind: 'step', runtime: ctx.runtime }), ctx.next()));
        more(api);
      }),
    ],
    ...options,
  });
  for (let number = 1; number <= turns; number++) {
    await agent.say('weather?', { event: { ...event, id: `e${number}` } });
  }
  await agent.close();
  return seen;
}

const first = async (kind: Seen['kind'], options?: ScriptedAgentOptions): Promise<RuntimeView> => {
  const runtime = (await look(options)).find((each) => each.kind === kind)?.runtime;
  if (runtime === undefined) throw new Error(`no ${kind} layer ran`);
  return runtime;
};

describe.each([
  ['C-02', 'turn'],
  ['C-03', 'step'],
] as const)('%s ctx.runtime of a %s context', (_id, kind) => {
  test(`${_id} has the agent, the model, the tools, the other agents, the connections and the inbound event`, async () => {
    expect(await first(kind)).toEqual({
      agent: { name: 'coder', instanceKey: 'room-1', description: 'Writes code.' },
      model: { ref: 'Model/scripted' },
      tools: [{ name: 'weather__get', description: 'The weather of a city.' }],
      agents: [{ name: 'cook' }],
      connections: [{ name: 'front-door', connector: 'web' }],
      inboundEvent: {
        id: 'e1',
        type: 'user.message',
        source: { kind: 'connector', name: 'front-door' },
        metadata: { chat: { id: 7 } },
        replyTo: { target: 'boss', correlationId: 'c1' },
        callChain: [{ agentName: 'boss', instanceKey: 'default' }],
        createdAt: '2026-01-02T03:04:05.000Z',
      },
    });
  });

  test(`${_id} is frozen at every depth: a write throws a TypeError`, async () => {
    const parts = objectsIn(await first(kind));
    expect(parts.length).toBeGreaterThan(10);
    for (const part of parts) {
      const [key = 'added'] = Object.keys(part);
      expect(() => strictlyAssign(part, key)).toThrow(TypeError);
      expect(() => strictlyAssign(part, 'added')).toThrow(TypeError);
    }
  });
});

describe('ctx.runtime', () => {
  test('is made once for each turn, and shares with other turns what has not changed', async () => {
    const seen = await look({}, 2);
    const views = [...new Set(seen.map(({ runtime }) => runtime))];
    expect([seen.length, views.length]).toEqual([6, 2]);
    const [one, two] = views;
    for (const part of ['agent', 'model', 'tools'] as const) expect(two?.[part]).toBe(one?.[part] as never);
    expect(two?.inboundEvent.id).toBe('e2');
  });

  test('shows a tool that an extension registers, and the extension, from the next turn on', async () => {
    const seen = await look({}, 2, ({ tools, pipeline }) =>
      pipeline.register('turn', (ctx) => {
        tools.register({ name: 'late__tool', description: 'Came late.' }, () => null);
        return ctx.next();
      }),
    );
    const names = seen.map(({ runtime }) => runtime.tools.map(({ name }) => name).join());
    expect([...new Set(names)]).toEqual(['weather__get', 'weather__get,late__tool']);
    const extensions = seen.at(-1)?.runtime.tools.map((tool) => tool.extension);
    expect(extensions).toEqual([undefined, 'looker']);
  });

  test('has neither the key nor the endpoint nor the options of the model, and not the secrets of the agent', async () => {
    const options = { script: [{ say: 'hi' }] };
    const spec = {
      provider: 'scripted',
      model: 'm-1',
      apiKey: 'key-12345678',
      endpoint: 'https://inside.test',
      options,
    };
    const view = await first('turn', {
      modelRef: 'Model/own',
      models: { 'Model/own': spec },
      secrets: ['key-12345678', 'who-knows-what'],
      environment: { WORD: 'who-knows-what' },
    });
    expect(view.model).toEqual({ ref: 'Model/own', provider: 'scripted', name: 'm-1' });
    expect(JSON.stringify(view)).not.toMatch(/key-12345678|inside\.test|who-knows-what|who-it-is/);
  });

  test('has empty lists for an agent that runs alone', async () => {
    const seen: RuntimeView[] = [];
    const agent = await scriptedAgent({
      extensions: [oneLayer('looker', 'turn', (ctx) => (seen.push(ctx.runtime), ctx.next()))],
    });
    await agent.say('hello');
    expect(seen).toMatchObject([{ agent: { name: 'tested' }, tools: [], agents: [], connections: [] }]);
  });
});

/** Modules are strict, so this throws if the field cannot be written. */
function strictlyAssign(target: object, key: string): void {
  // The types say readonly, but plain JavaScript can still assign.
  (target as Record<string, unknown>)[key] = 'changed';
}

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}
