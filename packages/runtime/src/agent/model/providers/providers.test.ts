/**
 * Tests each provider against a local server that speaks its wire format: the requests that the server gets, and the
 * replies made from its answers.
 */
import { describe, expect, test } from 'bun:test';
import type { JsonObject, ModelMessage, ToolCatalogItem } from '@goondan/types';
import { systemClock } from '../../../ports/clock.ts';
import { openProviderModel } from './open-provider-model.ts';
import { ask, openAt, testKey } from './wire/ask-model.ts';
import { anthropicCase, pdf, pictureUrl, png, providerCases } from './wire/provider-cases.ts';
import type { WireReply } from './wire/wire-dialect.ts';
import { startWireServer } from './wire/wire-server.ts';

const usage = { input: 120, output: 30, cached: 100 };
const hello: WireReply = { text: ['Hel', 'lo', '!'], usage };
const question: ModelMessage = { role: 'user', content: 'What is the weather in Seoul?' };

const weather: ToolCatalogItem = {
  name: 'weather__get',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const twoCalls: WireReply = {
  usage,
  calls: [
    { id: 'call-1', name: 'weather__get', args: { city: 'Seoul' } },
    { id: 'call-2', name: 'weather__get', args: { city: 'Atlantis' } },
  ],
};

describe.each(providerCases)('%s', (_name, provider) => {
  test('streams text delta by delta and returns the whole reply at the end', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: hello });
    const { reply, deltas } = await ask(openAt(server.url, provider), [question]);
    expect(deltas).toEqual(['Hel', 'lo', '!'].map((text) => ({ type: 'text', text })));
    expect(reply.content).toEqual([{ type: 'text', text: 'Hello!' }]);
    expect(reply.finishReason).toBe('stop');
  });

  test('sends to its own path, with the key in its own header and no token limit unless one is set', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: hello });
    await ask(openAt(server.url, provider), [question]);
    const [request] = server.requests;
    const [name, value] = provider.keyHeader;
    expect(request?.path).toBe(provider.path);
    expect(request?.headers.get(name)).toBe(value(testKey));
    // Anthropic requires a limit. Its package sets the highest limit that it knows for the model.
    const needed = provider.provider === 'anthropic' ? 64_000 : undefined;
    expect(provider.maxTokens(request?.body ?? {})).toBe(needed);
  });

  test.each([true, false])('reports that a reply reached its token limit (stream: %p)', async (stream) => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { ...hello, isTruncated: true } });
    const { reply } = await ask(openAt(server.url, provider, { stream }), [question]);
    expect(reply).toMatchObject({ content: [{ type: 'text', text: 'Hello!' }], finishReason: 'length' });
  });

  test('does not stream when told not to, and listeners still get the text', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: hello });
    const { reply, deltas } = await ask(openAt(server.url, provider, { stream: false }), [question]);
    expect(provider.dialect.isStreaming(server.requests[0]?.path ?? '', server.requests[0]?.body ?? {})).toBe(false);
    expect(reply.content).toEqual([{ type: 'text', text: 'Hello!' }]);
    expect(reply.finishReason).toBe('stop');
    expect(deltas).toEqual([{ type: 'text', text: 'Hello!' }]);
  });

  test.each([true, false])('reports the usage (stream: %p)', async (stream) => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: hello });
    const { reply } = await ask(openAt(server.url, provider, { stream }), [question]);
    expect(reply.usage).toMatchObject({ inputTokens: 120, outputTokens: 30, totalTokens: 150, cachedInputTokens: 100 });
    expect(reply.response?.id).toBeString();
  });

  test.each([true, false])(
    'Y-03 reports the tokens written to the cache if the provider does (stream: %p)',
    async (stream) => {
      await using server = startWireServer(provider.dialect);
      server.answer({ reply: { ...hello, usage: { input: 120, output: 30, cached: 70, written: 40 } } });
      const { reply } = await ask(openAt(server.url, provider, { stream }), [question]);
      expect(reply.usage).toMatchObject({ inputTokens: 120, cachedInputTokens: 70 });
      expect(reply.usage.cacheWriteTokens ?? 0).toBe(provider.provider === 'anthropic' ? 40 : 0);
    },
  );

  test('Y-03 counts that are not whole numbers from 0 do not undo limits', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { ...hello, usage: { input: -120, output: 30.4, cached: -5 } } });
    const { reply } = await ask(openAt(server.url, provider), [question]);
    expect(reply.usage).toMatchObject({ inputTokens: 0, outputTokens: 30, totalTokens: 30 });
    expect(reply.usage.cachedInputTokens ?? 0).toBe(0);
  });

  test.each([true, false])('calls tools in parallel and sends their results back (stream: %p)', async (stream) => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: twoCalls }, { reply: hello });
    const model = openAt(server.url, provider, { stream });
    const { reply } = await ask(model, [question], { tools: [weather] });
    expect(reply.finishReason).toBe('tool-calls');
    expect(reply.content).toMatchObject([
      { type: 'tool-call', toolCallId: 'call-1', toolName: 'weather__get', input: { city: 'Seoul' } },
      { type: 'tool-call', toolCallId: 'call-2', toolName: 'weather__get', input: { city: 'Atlantis' } },
    ]);

    const results: ModelMessage[] = [
      toolMessage('call-1', { type: 'json', value: { tempC: 21 } }),
      toolMessage('call-2', { type: 'error-text', value: 'no such city' }),
    ];
    const history: ModelMessage[] = [question, { role: 'assistant', content: reply.content }, ...results];
    await ask(model, history, { tools: [weather] });
    const sent = provider.messages(server.requests[1]?.body ?? {});
    expect(sent.slice(-provider.toolResults.length)).toEqual(provider.toolResults);
  });

  test.each([true, false])('keeps reasoning and sends it back with its signature (stream: %p)', async (stream) => {
    await using server = startWireServer(provider.dialect);
    const reasoning = { text: 'Better look it up.', signature: 'sig-reasoning' };
    const calls = [{ id: 'call-1', name: 'weather__get', args: { city: 'Seoul' }, signature: 'sig-call' }];
    server.answer({ reply: { reasoning, calls, usage } }, { reply: hello });
    const model = openAt(server.url, provider, { stream });
    const { reply, deltas } = await ask(model, [question], { tools: [weather] });
    if (provider.provider === 'openai') {
      // OpenAI's chat completions never show reasoning. This adds the reasoning of another model, which must not break
      // the call.
      reply.content.unshift({ type: 'reasoning', text: reasoning.text });
    } else {
      expect(reply.content[0]).toMatchObject({ type: 'reasoning', text: reasoning.text });
      expect(deltas).toEqual([{ type: 'reasoning', text: reasoning.text }]);
    }
    // The content is converted to JSON and back, because a conversation is stored as JSON.
    const content = JSON.parse(JSON.stringify(reply.content));
    const result = toolMessage('call-1', { type: 'text', value: 'sunny' });
    await ask(model, [question, { role: 'assistant', content }, result], { tools: [weather] });
    const sent = provider.messages(server.requests[1]?.body ?? {});
    expect(sent[1]).toEqual(provider.reasoningBack);
  });

  test('sends files: base64, a data URL, a URL', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: hello });
    const message: ModelMessage = {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', image: png, mediaType: 'image/jpeg' },
        {
          type: 'file',
          data: `data:application/pdf;base64,${pdf}`,
          mediaType: 'application/pdf',
          filename: 'paper.pdf',
        },
        { type: 'image', image: pictureUrl, mediaType: 'image/jpeg' },
      ],
    };
    await ask(openAt(server.url, provider), [message]);
    const sent = provider.messages(server.requests[0]?.body ?? {});
    expect(sent).toEqual([
      provider.provider === 'google'
        ? { role: 'user', parts: provider.files }
        : { role: 'user', content: provider.files },
    ]);
  });

  test('accepts system messages anywhere in the conversation', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: hello });
    await ask(openAt(server.url, provider), [
      { role: 'system', content: 'Be brief.' },
      question,
      { role: 'assistant', content: 'Sunny.' },
      { role: 'system', content: 'Now be long.' },
      { role: 'user', content: 'And tomorrow?' },
    ]);
    const body = server.requests[0]?.body ?? {};
    const joined = provider.provider === 'openai-compatible';
    expect(provider.system(body)).toEqual(joined ? ['Be brief.\n\nNow be long.'] : ['Be brief.', 'Now be long.']);
    expect(provider.messages(body)).toBeArrayOfSize(3);
  });

  test('passes params to the provider', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: hello });
    await ask(openAt(server.url, provider), [question], {
      params: { maxTokens: 77, temperature: 0.5, stopSequences: ['END'] },
    });
    const body = server.requests[0]?.body ?? {};
    expect(provider.maxTokens(body)).toBe(77);
    expect(JSON.stringify(body)).toContain('"temperature":0.5');
    expect(JSON.stringify(body)).toContain('["END"]');
  });
});

function toolMessage(
  toolCallId: string,
  output: Extract<ModelMessage, { role: 'tool' }>['content'][0]['output'],
): ModelMessage {
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: 'weather__get', output }] };
}

describe('an Anthropic model that its package does not know', () => {
  const unknown = { ...anthropicCase, model: 'claude-by-my-proxy' };

  async function limitsOf(params: JsonObject, times = 2) {
    await using server = startWireServer(unknown.dialect);
    server.answer({ reply: hello });
    const warnings: string[] = [];
    const spec = { provider: 'anthropic', model: unknown.model, apiKey: testKey, endpoint: `${server.url}/v1`, params };
    const ports = { clock: systemClock, environment: {}, folder: '.', warn: (text: string) => warnings.push(text) };
    const model = openProviderModel('anthropic', spec, ports);
    for (let count = 0; count < times; count += 1) await ask(model, [question]);
    return { limits: server.requests.map(({ body }) => unknown.maxTokens(body)), warnings };
  }

  test('may write 8192 tokens, and one warning says how to change that', async () => {
    const { limits, warnings } = await limitsOf({});
    expect(limits).toEqual([8_192, 8_192]);
    expect(warnings).toEqual([
      'The output limit of anthropic/claude-by-my-proxy is not known, so its replies end after 8192 tokens. Set `params.maxTokens` of the Model to change that.',
    ]);
  });

  test('may write as many tokens as the bundle says, without a warning', async () => {
    expect(await limitsOf({ maxTokens: 20_000 }, 1)).toEqual({ limits: [20_000], warnings: [] });
  });
});
