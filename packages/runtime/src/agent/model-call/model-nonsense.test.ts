// A model may return anything. A value that is not a reply ends the turn with a code, and never gets into the
// conversation.
import { describe, expect, test } from 'bun:test';
import type { ModelReply } from '@goondan/types';
import { scriptedAgent } from '../../testing/index.ts';
import type { Model } from '../model/model-port.ts';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const reply = (content: unknown) => ({ content, finishReason: 'stop', usage });
const call = (more: object = {}) => ({
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'thing__do',
  input: {},
  ...more,
});

/** Creates a model that returns nonsense the first time, and a valid reply the second time. */
function modelSaying(nonsense: unknown): Model {
  let asked = 0;
  const sensible: ModelReply = { content: [{ type: 'text', text: 'sorry' }], finishReason: 'stop', usage };
  return { generate: async () => (asked++ === 0 ? nonsense : sensible) as ModelReply };
}

describe('a model that answers nonsense', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'Hello!'],
    ['a list', [{ type: 'text', text: 'Hello!' }]],
    ['a number', 42],
    ['no content', { finishReason: 'stop', usage }],
    ['content that is a text', reply('Hello!')],
    ['a part that is a text', reply(['Hello!'])],
    ['a part without a type', reply([{ text: 'Hello!' }])],
    ['a text part without a text', reply([{ type: 'text' }])],
    ['a call without an id', reply([call({ toolCallId: undefined })])],
    ['a call with an empty id', reply([call({ toolCallId: '' })])],
    ['a call without a name', reply([call({ toolName: undefined })])],
    ['two calls of one id', reply([call(), call({ toolName: 'thing__undo' })])],
    ['no finishReason', { content: [], usage }],
    ['no usage', { content: [], finishReason: 'stop' }],
    ['usage that counts nothing', { content: [], finishReason: 'stop', usage: { inputTokens: 'many' } }],
    ['arguments that are no JSON', reply([call({ input: { at: new Date(0) } })])],
    ['a field of another API', { ...reply([{ type: 'text', text: 'Hello!' }]), text: 'Hello!' }],
    ['a part that is not JSON', reply([{ type: 'text', text: 'Hello!', size: 1n }])],
  ])('%s: the turn ends with E_MODEL_REPLY, and the conversation stays unchanged', async (_title, nonsense) => {
    const agent = await scriptedAgent({ model: modelSaying(nonsense) });
    const { result } = await agent.say('hello');
    expect(result.error?.code).toBe('E_MODEL_REPLY');
    expect(result.error?.message).toStartWith('Model/scripted gave no reply: ');
    expect((await agent.messages()).map(({ data }) => data.content)).toEqual(['hello']);
    expect((await agent.say('again')).text).toBe('sorry');
  });

  test('R-05 a call without arguments gets a result with a code, and the turn continues', async () => {
    const agent = await scriptedAgent({
      model: modelSaying(reply([call({ input: undefined })])),
      tools: [{ name: 'thing', exports: [{ name: 'do', description: 'Does it.' }], handlers: { do: () => 'done' } }],
    });
    expect((await agent.say('hello')).text).toBe('sorry');
    const results = (await agent.messages()).filter(({ data }) => data.role === 'tool');
    expect(JSON.stringify(results)).toContain('E_TOOL_ARGUMENTS');
  });

  test('a model that throws a value without a code: E_MODEL_FAILED', async () => {
    const agent = await scriptedAgent({ model: { generate: () => Promise.reject(new Error('socket closed')) } });
    expect((await agent.say('hello')).result.error).toMatchObject({
      code: 'E_MODEL_FAILED',
      message: 'Model/scripted: socket closed',
    });
    expect((await agent.messages()).map(({ data }) => data.content)).toEqual(['hello']);
  });

  test('C-06 a model with an empty reply ends the turn without an answer', async () => {
    const agent = await scriptedAgent({ model: modelSaying(reply([])) });
    const { result } = await agent.say('hello');
    expect(result).toStrictEqual({ turnId: 'turn-event-1', finishReason: 'text_response' });
    expect((await agent.messages()).map(({ data }) => data.content)).toEqual(['hello']);
  });
});

test('Y-04 counts that nobody believes are not stored', async () => {
  const content = [{ type: 'text' as const, text: 'yes' }];
  const huge = { ...usage, inputTokens: 1e19, cachedInputTokens: -1 };
  const agent = await scriptedAgent({ model: modelSaying({ content, finishReason: 'stop', usage: huge }) });
  expect((await agent.say('go')).usage).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
});
