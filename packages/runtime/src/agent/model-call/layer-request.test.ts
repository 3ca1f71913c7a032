/** Tests how model calls of a layer are checked, recorded and replayed. */
import { expect, test } from 'bun:test';
import { createUserMessage, type ExtensionRegister, type GenerateRequest, GoondanError } from '@goondan/types';
import { NO_USAGE } from '../../ports/token-usage.ts';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { beforeNext, layerOf, oneLayer } from '../../testing/one-layer.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import type { Model } from '../model/model-port.ts';
import { replayTurn } from '../replay/replay-turn.ts';

const adviser = layerOf(
  'step',
  async (ctx) => {
    await ctx.model.generate({ messages: [{ role: 'user', content: 'Any advice?' }] });
    return ctx.next();
  },
  { name: 'advise' },
);

test("the record of a layer's own model call names its extension, and a step's does not", async () => {
  const plan = {
    agentName: 'helper',
    models: { 'Model/m': { provider: 'scripted' as const, model: 'm', options: { script: [{ say: 'yes' }] } } },
    extensions: [extension('adviser', adviser)],
  };
  const { start } = await recordInMemory(plan, ['go']);
  const asked = start.recording.effects.filter(({ kind }) => kind === 'model');
  expect(asked.map(({ by }) => by && { extension: by.extension, name: by.name })).toEqual([
    { extension: 'adviser', name: 'advise' },
    undefined,
  ]);
  expect(asked[0]?.by?.span).toMatch(/^[0-9a-f]{16}$/);
  expect(await replayTurn(plan, start)).toMatchObject({ others: 0, served: { model: 2 } });
  // A layer that no longer makes its model call is one divergence: the chain of that call is missing.
  const quiet = {
    ...plan,
    extensions: [oneLayer('adviser', 'step', (ctx) => ctx.next(), { name: 'advise' })],
  };
  expect(await replayTurn(quiet, start)).toMatchObject({
    others: 0,
    first: { extension: 'adviser', what: 'not_asked' },
  });
});

test("a layer's own model call has no messages that stay, so it gets no marks of a cache", async () => {
  const counts: unknown[] = [];
  const model: Model = {
    async generate({ stableCount }) {
      counts.push(stableCount);
      return { content: [{ type: 'text', text: 'yes' }], finishReason: 'stop', usage: NO_USAGE };
    },
  };
  await (await scriptedAgent({ model, extensions: [extension('adviser', adviser)] })).say('go');
  expect(counts).toEqual([undefined, 1]);
});

test('a call that another layer answers now is a divergence of that layer alone', async () => {
  const cache = (answers: boolean): ExtensionRegister => {
    return ({ pipeline }) => {
      const reply = {
        content: [{ type: 'text' as const, text: 'yes' }],
        finishReason: 'stop' as const,
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      };
      const options = { name: 'cache', mayShortCircuit: true };
      pipeline.register(
        'model',
        (ctx) => (answers && ctx.extension !== undefined ? Promise.resolve(reply) : ctx.next()),
        options,
      );
    };
  };
  const planOf = (answers: boolean) => ({
    agentName: 'helper',
    models: { 'Model/m': { provider: 'scripted' as const, model: 'm', options: { script: [{ say: 'yes' }] } } },
    extensions: [extension('adviser', adviser), extension('cache', cache(answers))],
  });
  const { start } = await recordInMemory(planOf(false), ['go']);
  expect(await replayTurn(planOf(true), start)).toMatchObject({ others: 0, first: { extension: 'cache' } });
});

/** Lets a layer call the model with a request of plain JavaScript. Returns the error of the turn. */
async function errorOf(request: unknown) {
  const agent = await scriptedAgent({
    script: [{ say: 'yes' }],
    extensions: [
      beforeNext('adviser', 'step', async (ctx) => {
        // Safe: the call checks the request.
        await ctx.model.generate(request as GenerateRequest);
      }),
    ],
  });
  return (await agent.say('go')).result.error;
}

const messages = [{ role: 'user', content: 'Any advice?' }];

test.each<[string, unknown, string]>([
  [
    'the request',
    { messages, modelref: 'Model/x' },
    '"modelref" is not a field of the request of generate; the nearest field is "modelRef"',
  ],
  [
    'the params',
    { messages, params: { temprature: 0 } },
    '"temprature" is not a field of `params` of generate; the nearest field is "temperature"',
  ],
])('generate refuses an unknown field of %s', async (_title, request, problem) => {
  expect(await errorOf(request)).toMatchObject({
    code: 'E_MODEL_REQUEST',
    message: `Extension "adviser": ${problem}.`,
  });
});

test.each<[string, readonly unknown[], string]>([
  [
    'a message of the conversation',
    [...messages, createUserMessage('hi')],
    'messages[1] is a message of the conversation; pass its `data`, which is `{ role, content }`',
  ],
  ['a text', ['hi'], 'messages[0] is not an object'],
  [
    'an unknown role',
    [{ role: 'human', content: 'hi' }],
    'messages[0].role "human" is not one of system, user, assistant, tool',
  ],
  [
    'no content',
    [{ role: 'user', text: 'hi' }],
    'messages[0]: the content of the user message is neither a text nor an array',
  ],
  ['a part without a text', [{ role: 'user', content: [{ type: 'text' }] }], 'messages[0]: a text part has no text'],
])('generate names the message that is wrong: %s', async (_title, given, problem) => {
  expect(await errorOf({ messages: given })).toMatchObject({
    code: 'E_MODEL_REQUEST',
    message: `Extension "adviser": ${problem}.`,
  });
});

test('Y-06 a layer that never stops to fall back ends a call by another layer, and its step is not retried', async () => {
  let attempts = 0;
  const restless = layerOf('model', () => {
    attempts++;
    throw new GoondanError('E_MODEL_FAILED', 'Once more.', { retryable: true, isFallback: true });
  });
  const extensions = [extension('adviser', adviser), extension('restless', restless)];
  const tested = await scriptedAgent({ extensions });
  const { result } = await tested.say('go');
  const message = '16 fallbacks in a row did not help: Once more.';
  expect([attempts, result.error]).toMatchObject([17, { code: 'E_MODEL_FAILED', message }]);
  await tested.close();
});
