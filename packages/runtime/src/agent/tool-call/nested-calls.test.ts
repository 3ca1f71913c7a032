// `ctx.tools.call` of a toolCall layer: a call inside a call.
import { describe, expect, test } from 'bun:test';
import type { ExtensionIdentity, ExtensionRegister, ToolCaller } from '@goondan/types';
import { extension, fakeApprover, scriptedAgent } from '../../testing/index.ts';
import { beforeNext, layerOf, oneLayer } from '../../testing/one-layer.ts';
import { mortalStore } from '../../testing/mortal-store.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import { systemClock } from '../../ports/clock.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import { openScriptedModel } from '../model/scripted/open-scripted-model.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const script = [{ when: 'go', calls: [{ tool: 'shop__look' }, { tool: 'shop__look' }] }, { say: 'done' }];

/** Creates a tool that counts: each call returns the number of calls so far. */
function shop(runs: string[] = []): ToolDeclaration {
  const handler = ({ toolCallId }: { readonly toolCallId: string }) => runs.push(toolCallId);
  return {
    name: 'shop',
    exports: [
      { name: 'look', description: 'Looks.' },
      { name: 'note', description: 'Notes.' },
      { name: 'hidden', description: 'Hides.' },
    ],
    handlers: { look: handler, note: handler, hidden: handler },
  };
}

/** Notes the calls of the model before and after they run. Does not note its own notes. */
const noting = layerOf('toolCall', async (ctx) => {
  if (ctx.callers.length > 0) return ctx.next();
  await ctx.tools.call('shop__note', { before: ctx.toolName });
  const result = await ctx.next();
  const { output } = await ctx.tools.call('shop__note', { after: ctx.toolName });
  return result.status === 'ok' ? { ...result, output: [result.output ?? null, output ?? null] } : result;
});

describe('ctx.tools.call of a toolCall layer', () => {
  test('passes every layer, with its callers, and stays out of the conversation', async () => {
    const seen: string[] = [];
    const show = (callers: readonly ToolCaller[]) => callers.map(({ extension: by, tier }) => `${by}:${tier}`).join();
    const watching = (name: string, tier: 'swarm' | 'agent' | 'hook') =>
      oneLayer(
        name,
        'toolCall',
        (ctx) => {
          seen.push(`${name} ${ctx.toolName} ${JSON.stringify(ctx.args)} ${show(ctx.callers)}`);
          return ctx.next();
        },
        { tier },
      );
    const agent = await scriptedAgent({
      script: [{ when: 'go', call: { tool: 'shop__look' } }, { say: 'done' }],
      tools: [shop()],
      extensions: [watching('outer', 'swarm'), extension('noting', noting), watching('inner', 'hook')],
    });
    expect((await agent.say('go')).text).toBe('done');
    expect(seen).toEqual([
      'outer shop__look {} ',
      'outer shop__note {"before":"shop__look"} noting:agent',
      'inner shop__note {"before":"shop__look"} noting:agent',
      'inner shop__look {} ',
      'outer shop__note {"after":"shop__look"} noting:agent',
      'inner shop__note {"after":"shop__look"} noting:agent',
    ]);
    const messages = JSON.stringify(await agent.messages());
    expect(messages).not.toContain('shop__note');
    expect(messages).toContain('[2,3]');
  });

  test('may call only the tools that the step offers', async () => {
    const codes: unknown[] = [];
    const agent = await scriptedAgent({
      script: [{ when: 'go', call: { tool: 'shop__look' } }, { say: 'done' }],
      tools: [shop()],
      extensions: [
        extension('hiding', ({ pipeline }) => {
          pipeline.register('step', (ctx) => {
            ctx.toolCatalog = ctx.toolCatalog.filter(({ name }) => name !== 'shop__hidden');
            return ctx.next();
          });
          pipeline.register('toolCall', async (ctx) => {
            if (ctx.toolName === 'shop__look') codes.push((await ctx.tools.call('shop__hidden')).error?.code);
            return ctx.next();
          });
        }),
      ],
    });
    await agent.say('go');
    expect(codes).toEqual(['E_TOOL_NOT_OFFERED']);
  });

  test.each(['turn', 'step', 'toolCall'] as const)(
    'of a %s layer may be in the name of another extension, whose identity the layer has',
    async (kind) => {
      const callers: string[] = [];
      const codes: unknown[] = [];
      let guest: ExtensionIdentity | undefined;
      const agent = await scriptedAgent({
        script: [{ when: 'go', call: { tool: 'shop__look' } }, { say: 'done' }],
        tools: [shop()],
        extensions: [
          extension('guest', (_api, _config, identity) => void (guest = identity), { tier: 'hook' }),
          beforeNext('host', kind, async (ctx) => {
            if (!('tools' in ctx) || 'messages' in ctx || ('callers' in ctx && ctx.callers.length > 0)) return;
            await ctx.tools.call('shop__note', {}, guest);
            const refused = ctx.tools.call('shop__note', {}, { name: 'guest', position: 0 });
            codes.push(await refused.catch((error: unknown) => Reflect.get(Object(error), 'code')));
          }),
          oneLayer('watching', 'toolCall', (ctx) => {
            if (ctx.toolName === 'shop__note') callers.push(...ctx.callers.map((by) => `${by.extension}:${by.tier}`));
            return ctx.next();
          }),
        ],
      });
      await agent.say('go');
      expect(new Set(callers)).toEqual(new Set(['guest:hook']));
      expect(new Set(codes)).toEqual(new Set(['E_MESSAGE_INVALID']));
    },
  );

  test('a layer cannot change the list of callers', async () => {
    const errors: unknown[] = [];
    const agent = await scriptedAgent({
      script: [{ when: 'go', call: { tool: 'shop__look' } }, { say: 'done' }],
      tools: [shop()],
      extensions: [
        extension('noting', noting),
        beforeNext('lying', 'toolCall', (ctx) => {
          if (ctx.callers.length > 0) {
            try {
              (ctx.callers as ToolCaller[]).length = 0;
            } catch (error) {
              errors.push(error);
            }
          }
        }),
      ],
    });
    await agent.say('go');
    expect(errors).toHaveLength(2);
  });

  test('is approved like every other call', async () => {
    const approver = fakeApprover(({ toolName }) => ({ decision: toolName === 'shop__note' ? 'denied' : 'approved' }));
    const runs: string[] = [];
    const agent = await scriptedAgent({
      script,
      tools: [shop(runs)],
      approver,
      extensions: [
        oneLayer(
          'guard',
          'toolCall',
          async (ctx) => {
            await ctx.approval.ask({ reason: 'Always.' });
            return ctx.next();
          },
          { tier: 'swarm' },
        ),
        extension('noting', noting),
      ],
    });
    await agent.say('go');
    expect(approver.questions.filter(({ toolName }) => toolName === 'shop__note')).toHaveLength(4);
    expect(new Set(approver.questions.map(({ key }) => key)).size).toBe(6);
    expect(runs).toEqual(['call_1', 'call_2']);
  });

  test('is shown in the trace inside the call whose layer made it', async () => {
    const agent = await scriptedAgent({ script, tools: [shop()], extensions: [extension('noting', noting)] });
    const { trace } = await agent.say('go');
    const calls = trace?.inside[0]?.inside.filter(({ kind }) => kind === 'toolCall') ?? [];
    const labels = calls.map(({ label, inside }) => [
      label,
      ...inside.map((each) => `${each.label} ${each.by?.extension}`),
    ]);
    const nested = ['shop__look', 'shop__note noting', 'shop__note noting'];
    expect(labels).toEqual([nested, nested]);
  });
});

describe('a layer that calls its own tool without end', () => {
  const endless = layerOf(
    'toolCall',
    async (ctx) => {
      const inner = await ctx.tools.call(ctx.toolName, ctx.args);
      if (inner.status === 'ok') return ctx.next();
      const { toolCallId } = ctx;
      return { ...inner, toolCallId };
    },
    { mayShortCircuit: true },
  );

  test('gets E_TOOL_DEPTH after 8 calls inside each other, and the turn continues', async () => {
    const depths: number[] = [];
    const runs: string[] = [];
    const agent = await scriptedAgent({
      script: [
        { when: 'go', call: { tool: 'shop__look' } },
        { afterTool: 'shop__look', say: '{{result.error.code}}' },
      ],
      tools: [shop(runs)],
      extensions: [
        beforeNext('counting', 'toolCall', (ctx) => depths.push(ctx.callers.length)),
        extension('endless', endless),
      ],
    });
    const { text, result } = await agent.say('go');
    expect(text).toBe('E_TOOL_DEPTH');
    expect(result.finishReason).toBe('text_response');
    expect(depths).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(runs).toEqual([]);
    const line = agent.logs.find(({ message }) => message.includes('inside 8 calls of layers'));
    expect(line?.message).toContain('extension "endless" called it');
  });

  test('in a turn layer’s call, too', async () => {
    const codes: unknown[] = [];
    const agent = await scriptedAgent({
      tools: [shop()],
      extensions: [
        extension('endless', endless),
        beforeNext('calling', 'turn', async (ctx) => codes.push((await ctx.tools.call('shop__look')).error?.code)),
      ],
    });
    expect((await agent.say('hello')).text).toBe('You said: hello');
    expect(codes).toEqual(['E_TOOL_DEPTH']);
  });
});

describe('the calls inside calls', () => {
  test('of a resumed turn get their recorded results, wherever the crash was', async () => {
    let crashes = 0;
    for (let appends = 1; ; appends++) {
      const store = memoryStore();
      const mortal = mortalStore(store, appends);
      const runs: string[] = [];
      const start = (on: ConversationStore) =>
        scriptedAgent({ script, tools: [shop(runs)], extensions: [extension('noting', noting)], store: on });
      const say = async (on: ConversationStore) => (await start(on)).say('go', { event: { id: 'same' } });
      const outcome = await say(mortal).catch(() => 'crashed');
      if (!mortal.isDead()) {
        expect(outcome).toMatchObject({ text: 'done' });
        break;
      }
      crashes++;
      expect((await say(store)).text).toBe('done');
      // No tool is idempotent, so no call runs twice: each has the same id in both runs.
      expect(new Set(runs).size).toBe(runs.length);
      for (const id of runs) expect(id).toMatch(/^(?:call_[12]|turn-same:0\/call\/call_[12]\/noting\/tool\/[01])$/);
    }
    expect(crashes).toBeGreaterThanOrEqual(5);
  });

  test('of a replay are served from the recording', async () => {
    const runs: string[] = [];
    // Calls tools in a model layer, too, with the tools of its step, as the extension `hooks` does.
    const before: ExtensionRegister = ({ pipeline }) => {
      let tools: { call(name: string): Promise<unknown> } | undefined;
      pipeline.register('step', (ctx) => ((tools = ctx.tools), ctx.next()));
      pipeline.register('model', async (ctx) => {
        await tools?.call('shop__note');
        return ctx.next();
      });
    };
    const plan: AgentPlan = {
      agentName: 'tested',
      models: { 'Model/m': openScriptedModel({ script }, systemClock) },
      tools: [shop(runs)],
      extensions: [extension('noting', noting), extension('before', before, { tier: 'hook' })],
    };
    const { start } = await recordInMemory(plan, ['go']);
    expect(runs).toHaveLength(8);
    const outcome = await replayTurn(plan, start);
    expect(outcome.first).toBeUndefined();
    expect(outcome.served).toMatchObject({ tool: 8, model: 2 });
    expect(runs).toHaveLength(8);
  });
});
