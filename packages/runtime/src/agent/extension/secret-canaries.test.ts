// Plants 20 secrets in everything that an extension or a tool can output, and checks that none appears anywhere.
import { describe, expect, test } from 'bun:test';
import { createAssistantMessage, createSystemMessage, createUserMessage, type ExtensionRegister } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import type { Engine } from '../seams/engine.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const canaries = Array.from({ length: 20 }, (_, number) => `canary-${number} "p&ss"\\w+rd\n${'é'.repeat(number)}/end`);
/** Matches any remaining part of a canary, in any of its forms. */
const feather = /canary|p&ss|p%26ss|p\\u0026ss|w\+rd|w%2Brd/;

const forms = canaries.flatMap((secret) => [
  secret,
  JSON.stringify({ secret }),
  `https://example.com/?key=${encodeURIComponent(secret)}`,
  new URLSearchParams({ secret }).toString(),
]);
const everything = forms.join(' | ');

const tell = (code: string) =>
  Object.assign(new Error(everything), {
    name: `Teller ${everything}`,
    code: `${code} ${everything}`,
    suggestion: everything,
    helpUrl: everything,
  });

const speaker: ExtensionRegister = ({ logger, pipeline, events }) => {
  const say = () => {
    for (const form of forms) logger.info(form);
    for (const secret of canaries) logger.warn('config', { secret, list: [secret] }, [secret]);
    logger.error(tell('E_OWN'));
    logger.table([{ secret: canaries[0] }]);
    logger.group(everything);
    logger.count(canaries[1]);
  };
  say();
  events.on('turn.started', () => {
    throw tell('E_OWN');
  });
  pipeline.register('turn', (ctx) => {
    say();
    return ctx.next();
  });
};

const teller: ToolDeclaration = {
  name: 'teller',
  exports: [{ name: 'tell', description: 'Tells.' }],
  handlers: {
    tell: ({ logger }) => {
      logger.info(everything);
      throw tell('E_TOLD');
    },
  },
};

const throwIn = (kind: 'step' | 'toolCall'): ExtensionRegister => {
  const fail = () => Promise.reject(tell('E_LAYER'));
  return ({ pipeline }) => (kind === 'step' ? pipeline.register(kind, fail) : pipeline.register(kind, fail));
};

async function run(more: readonly ExtensionRegister[]) {
  const written: unknown[] = [];
  const agent = await scriptedAgent({
    secrets: canaries,
    store: watched(memoryStore(), written),
    tools: [teller],
    script: [{ when: 'go', call: { tool: 'teller__tell' } }, { say: 'done' }],
    extensions: [
      extension('speaker', speaker),
      ...more.map((register, index) => extension(`more-${index}`, register)),
      extension('leaver', () => () => Promise.reject(tell('E_LEFT'))),
    ],
  });
  const turn = await agent.say('go');
  await agent.close();
  return { agent, turn, written };
}

describe('the 20 secrets', () => {
  test('are in no log line', async () => {
    const { agent } = await run([]);
    expect(agent.logs.length).toBeGreaterThan(200);
    expect(agent.logs.filter((line) => feather.test(JSON.stringify(line)))).toEqual([]);
  });

  test('are in no tool result, whether a tool or a layer threw', async () => {
    for (const more of [[], [throwIn('toolCall')]]) {
      const { agent, turn, written } = await run(more);
      expect(turn.text).toBe('done');
      expect(JSON.stringify(written)).not.toMatch(feather);
      const results = (await agent.messages()).filter(({ data }) => data.role === 'tool');
      expect(results).toHaveLength(1);
      expect(JSON.stringify(results)).toContain('***');
      expect(JSON.stringify(results)).not.toMatch(feather);
      expect(JSON.stringify(agent.requests)).not.toMatch(feather);
    }
  });

  test('are in no error that a layer returns; a code of the catalogue stays', async () => {
    for (const code of [everything, 'E_TOOL_FAILED']) {
      const error = { name: everything, message: everything, code };
      const maker: ExtensionRegister = ({ pipeline }) =>
        pipeline.register('toolCall', async (ctx) => ({ ...(await ctx.next()), status: 'error', error }));
      const { agent } = await run([maker]);
      const results = (await agent.messages()).filter(({ data }) => data.role === 'tool');
      expect(JSON.stringify(results)).toContain(code === everything ? '***' : '"code":"E_TOOL_FAILED"');
      expect(JSON.stringify([results, agent.told])).not.toMatch(feather);
    }
  });

  test('are in no turn error', async () => {
    const { turn } = await run([throwIn('step')]);
    expect(turn.result.error?.code).toMatch(/^E_LAYER [^]*\*\*\*/);
    expect(turn.result.error?.message).toContain('***');
    expect(JSON.stringify(turn.result)).not.toMatch(feather);
  });

  test('are in no runtime event', async () => {
    for (const more of [[throwIn('step')], [throwIn('toolCall')]]) {
      const { agent } = await run(more);
      expect(JSON.stringify(agent.told)).toContain('***');
      expect(JSON.stringify(agent.told)).not.toMatch(feather);
    }
  });

  test('are in no successful result of a tool or a layer, and in nothing that is stored', async () => {
    const { agent, turn, written } = await runLeaking();
    expect(turn.text).toContain('***');
    expect(written.map((each) => JSON.stringify(each)).filter((text) => text.includes('***')).length).toBeGreaterThan(
      3,
    );
    const seen = { turn: turn.result, written, told: agent.told, logs: agent.logs };
    for (const [what, value] of Object.entries(seen)) {
      expect({ what, shows: feather.test(JSON.stringify(value)) }).toEqual({ what, shows: false });
    }
    expect(await agent.stateOf('keeper')).toEqual({ keys: forms.map(() => expect.stringContaining('***')) });
  });

  test('are in no request to a model, from a step or a layer', async () => {
    const { agent } = await runLeaking();
    expect(agent.requests.length).toBeGreaterThanOrEqual(3);
    // The replies are left out, because the test's own script wrote them, secrets included.
    const asked = agent.requests.map(({ messages, tools, params }) => ({ messages, tools, params }));
    expect(JSON.stringify(asked)).toContain('***');
    expect(JSON.stringify(asked)).not.toMatch(feather);
  });

  test('are in no trace', async () => {
    for (const { turn } of [await runLeaking(), await run([throwIn('toolCall')]), await run([throwIn('step')])]) {
      expect(JSON.stringify(turn.trace)).toContain('***');
      expect(JSON.stringify(turn.trace)).not.toMatch(feather);
    }
  });

  test('are in no message to another agent', async () => {
    const sent: unknown[] = [];
    const engine: Engine = {
      deliver: async (_to, event) => {
        sent.push(event);
        return { accepted: true };
      },
      request: async (_to, event) => {
        sent.push(event);
        return { turnId: 't', finishReason: 'text_response' };
      },
      catalog: () => [],
      list: async () => [],
    };
    const asker = beforeNext('asker', 'turn', async (ctx) => {
      const message = { target: 'b', input: everything, metadata: { keys: canaries } };
      await ctx.agents.request(message);
      await ctx.agents.send(message);
    });
    const agent = await scriptedAgent({ secrets: canaries, extensions: [asker], engine });
    await agent.say('go');
    expect(sent).toHaveLength(2);
    expect(JSON.stringify(sent)).toContain('***');
    expect(JSON.stringify(sent)).not.toMatch(feather);
  });

  test('reach the handler of a tool when a layer passes one on', async () => {
    const given: unknown[] = [];
    const agent = await scriptedAgent({
      secrets: canaries,
      tools: [
        {
          name: 'caller',
          exports: [{ name: 'call', description: 'Calls.' }],
          handlers: { call: (_ctx, input) => void given.push(input) },
        },
      ],
      script: [{ when: 'go', call: { tool: 'caller__call' } }, { say: 'done' }],
      extensions: [
        beforeNext('giver', 'toolCall', (ctx) => {
          ctx.args = { key: canaries[0] ?? '' };
        }),
      ],
    });
    await agent.say('go');
    expect(given).toEqual([{ key: canaries[0] }]);
    expect(JSON.stringify(await agent.messages())).not.toMatch(feather);
  });
});

/** Runs an agent whose extension and tool put secrets into the conversation, the state and the model requests. */
async function runLeaking() {
  const written: unknown[] = [];
  const leaker = extension('keeper', ({ pipeline, state }) => {
    pipeline.register('turn', async (ctx) => {
      await state.set({ keys: forms });
      ctx.metadata.keys = canaries;
      ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(everything, { keys: canaries }) });
      const messages = [createUserMessage(everything).data];
      await ctx.model.generate({ messages, tools: [{ name: 'a__b', description: everything }] });
      const result = await ctx.next();
      return { ...result, responseMessage: createAssistantMessage(everything) };
    });
    pipeline.register('step', async (ctx) => {
      ctx.toolCatalog.push({ name: 'odd__one', description: everything, parameters: { description: everything } });
      const result = await ctx.next();
      return { ...result, metadata: { keys: canaries } };
    });
    pipeline.register('model', async (ctx) => {
      ctx.messages.unshift({ role: 'user', content: [{ type: 'text', text: everything }] });
      return ctx.next();
    });
    pipeline.register('toolCall', async (ctx) => {
      ctx.args = { keys: canaries };
      const result = await ctx.next();
      return { ...result, output: { was: result.output ?? null, keys: forms } };
    });
  });
  const agent = await scriptedAgent({
    secrets: canaries,
    tools: [
      {
        name: 'giver',
        exports: [{ name: 'give', description: 'Gives.' }],
        handlers: { give: () => ({ text: everything, [canaries[0] ?? '']: canaries }) },
      },
    ],
    script: [{ when: 'now', call: { tool: 'giver__give' } }, { say: `{{input}} ${everything}` }],
    extensions: [leaker],
    store: watched(memoryStore(), written),
  });
  const turn = await agent.say(`now ${everything}`);
  return { agent, turn, written };
}

/** Wraps a store, so that everything written to it is also copied to `written`. */
function watched(store: ConversationStore, written: unknown[]): ConversationStore {
  return {
    ...store,
    append(...parameters) {
      written.push(...parameters[3]);
      return store.append(...parameters);
    },
    commit(...parameters) {
      written.push(parameters);
      return store.commit(...parameters);
    },
  };
}
