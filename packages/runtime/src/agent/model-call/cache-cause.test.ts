/** Tests causes of a lost cache that are easily mistaken: a cache that expired, an id that stays, a Model that changed. */
import { expect, test } from 'bun:test';
import { createSystemMessage, createUserMessage, type ExtensionRegister } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { extension } from '../../testing/index.ts';
import { layerOf } from '../../testing/one-layer.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { recordTurn } from '../../trace/record-turn.ts';
import { renderTrace } from '../../trace/render-trace.ts';
import type { ChainRecord } from '../../trace/turn-trace.ts';
import { AnthropicCache } from '../model/providers/wire/anthropic-cache.ts';
import { anthropicCase, openaiCase } from '../model/providers/wire/provider-cases.ts';
import { startWireServer } from '../model/providers/wire/wire-server.ts';
import { type RunningAgent, startAgent } from '../start/start-agent.ts';

const reply = { usage: { input: 0, output: 5, cached: 0 }, text: ['Yes.'] };

interface Running {
  readonly agent: RunningAgent;
  readonly cache: AnthropicCache;
  /** Starts another agent, with another model at the same server. */
  readonly startOther: (model: string) => Promise<RunningAgent>;
}

/** Runs two turns, and returns the losses in the trace of the second. `between`: what happens before it. */
async function lossAfter(register: ExtensionRegister, between: (running: Running) => unknown = () => undefined) {
  const cache = new AnthropicCache();
  await using server = startWireServer(anthropicCase.dialect, (body) => cache.count(body));
  server.answer({ reply });
  const start = (model: string) =>
    startAgent(
      {
        agentName: 'a',
        systemPrompt: 'Be brief. '.repeat(1_000),
        models: { 'Model/claude': { provider: 'anthropic', model, apiKey: 'k', endpoint: `${server.url}/v1` } },
        extensions: [extension('notes', register)],
      },
      { logSink: () => undefined },
    );
  const agent = await start(anthropicCase.model);
  await say(agent, 'One');
  await between({ agent, cache, startOther: start });
  return renderTrace(await say(agent, 'Two')).match(/cache lost.*/g) ?? [];
}

async function say(agent: RunningAgent, input: string): Promise<ChainRecord> {
  const recorder = recordTurn(systemClock);
  await agent.handle(inputEvent(input, { input }), { observer: recorder });
  return recorder.turn() as ChainRecord;
}

test.each([
  ['user', createUserMessage],
  ['system', createSystemMessage],
] as const)('Y-05 a cache that expired is not the fault of a %s message for one turn', async (_role, create) => {
  const note = layerOf('turn', (ctx) => {
    ctx.emitMessageEvent({ type: 'append', message: create(`Now: ${ctx.turnId}`, {}, { lifetime: 'turn' }) });
    return ctx.next();
  });
  expect(await lossAfter(note, ({ cache }) => cache.expire())).toEqual([]);
});

test('Y-05 a layer that replaced a message and kept its id did not add it', async () => {
  const note = layerOf('turn', (ctx) => {
    const message = createUserMessage(`Now: ${ctx.turnId}`, {}, { id: 'note' });
    const isThere = ctx.conversationState.nextMessages.some(({ id }) => id === 'note');
    ctx.emitMessageEvent(isThere ? { type: 'replace', targetId: 'note', message } : { type: 'append', message });
    return ctx.next();
  });
  expect(await lossAfter(note)).toEqual(['cache lost at message 2: `notes` replaced it']);
});

test('Y-05 the bundle, when its Model has another `model`', async () => {
  const loss = await lossAfter(
    () => undefined,
    async ({ agent: { parts }, cache, startOther }) => {
      const { openModel } = (await startOther('claude-opus-4-1')).parts.plan;
      parts.plan = { ...parts.plan, openModel, digest: () => 'another plan' };
      cache.expire();
    },
  );
  expect(loss).toEqual([`cache lost at the model: the bundle chose claude-opus-4-1 instead of ${anthropicCase.model}`]);
});

test('Y-05 a message for one turn, when the provider had cached it for the next step', async () => {
  const reads = [0, 2_000, 1_500];
  await using server = startWireServer(openaiCase.dialect, () => ({ input: 2_100, cached: reads.shift() ?? 0 }));
  const get = { id: 'c', name: 'clock__get', args: {} };
  server.answer({ reply: { usage: reply.usage, calls: [get] } }, { reply });
  const { model, path } = openaiCase;
  const note = layerOf('turn', (ctx) => {
    const message = createUserMessage(`Now: ${ctx.turnId}`, {}, { lifetime: 'turn' });
    ctx.emitMessageEvent({ type: 'append', message });
    return ctx.next();
  });
  const agent = await startAgent(
    {
      agentName: 'a',
      models: {
        'Model/gpt': { provider: 'openai', model, apiKey: 'k', endpoint: `${server.url}/${path.split('/')[1]}` },
      },
      tools: [{ name: 'clock', exports: [{ name: 'get', description: 'The time.' }], handlers: { get: () => 'noon' } }],
      extensions: [extension('notes', note)],
    },
    { logSink: () => undefined },
  );
  await say(agent, 'One');
  const loss = 'cache lost at message 1: `notes` had added it for one step or turn';
  expect(renderTrace(await say(agent, 'Two'))).toContain(loss);
});
