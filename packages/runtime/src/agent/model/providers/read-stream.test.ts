import { describe, expect, test } from 'bun:test';
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelDelta } from '@goondan/types';
import { readStream } from './read-stream.ts';
import { toPrompt } from './to-prompt.ts';
import { failureOf } from './wire/ask-model.ts';

const usage = {
  inputTokens: { total: 5, noCache: 5, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 7, text: 4, reasoning: 3 },
};
const finish = (
  unified: LanguageModelV4FinishReason['unified'],
  raw: string | undefined = unified,
): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage,
});

function streamOf(parts: readonly object[]): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      // The cast is needed because tests also stream parts that no version of the SDK's types has.
      for (const part of parts) controller.enqueue(part as LanguageModelV4StreamPart);
      controller.close();
    },
  });
}

async function read(...parts: object[]) {
  const deltas: ModelDelta[] = [];
  const reply = await readStream(streamOf(parts), {
    provider: 'google',
    label: 'google/x',
    signal: new AbortController().signal,
    onDelta: (delta) => deltas.push(delta),
  });
  return { ...reply, deltas };
}

describe('text and reasoning', () => {
  test('blocks that interleave keep their order and their own text', async () => {
    const { content, deltas } = await read(
      { type: 'reasoning-start', id: '0' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Hel' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
      { type: 'text-delta', id: '0', delta: 'lo' },
      { type: 'reasoning-end', id: '0' },
      { type: 'text-end', id: '0' },
      finish('stop'),
    );
    expect(content).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello' },
    ]);
    expect(deltas.map(({ type, text }) => `${type} ${text}`)).toEqual(['text Hel', 'reasoning Hm.', 'text lo']);
  });

  test('an id that is used again begins another part', async () => {
    const block = (delta: string) => [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta },
      { type: 'text-end', id: 't' },
    ];
    const { content } = await read(...block('one'), ...block('two'), finish('stop'));
    expect(content).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]);
  });

  test('metadata of a block is kept, whether it comes with its start, a delta or its end', async () => {
    const { content } = await read(
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { a: 1 } } },
      {
        type: 'reasoning-delta',
        id: '0',
        delta: '',
        providerMetadata: { anthropic: { signature: 's', empty: undefined } },
      },
      { type: 'reasoning-end', id: '0', providerMetadata: { google: { thoughtSignature: 't' } } },
      finish('stop'),
    );
    expect(content).toEqual([
      {
        type: 'reasoning',
        text: '',
        providerOptions: { anthropic: { a: 1, signature: 's' }, google: { thoughtSignature: 't' } },
      },
    ]);
  });

  test('an empty block without a signature is left out, and no delta is empty', async () => {
    const { content, deltas } = await read(
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: '' },
      { type: 'text-end', id: '0' },
      { type: 'text-delta', id: 'never-started', delta: 'Hi' },
      finish('stop'),
    );
    expect(content).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(deltas).toBeArrayOfSize(1);
  });
});

describe('tool calls', () => {
  test.each([
    ['{"city":"Seoul"}', { city: 'Seoul' }],
    ['', {}],
    ['  ', {}],
    ['{"city":', '{"city":'],
    ['[1]', [1]],
  ])('input %p becomes %p', async (input, parsed) => {
    const { content } = await read(
      { type: 'tool-call', toolCallId: 'c', toolName: 'a__b', input },
      finish('tool-calls'),
    );
    expect(content).toEqual([{ type: 'tool-call', toolCallId: 'c', toolName: 'a__b', input: parsed }]);
  });

  test('tools that the provider ran itself keep their final result', async () => {
    const result = { type: 'tool-result', toolCallId: 'c', toolName: 'web_search' };
    const { content } = await read(
      { type: 'tool-input-start', id: 'c', toolName: 'web_search' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'web_search', input: '{}', providerExecuted: true },
      { ...result, result: ['draft'], preliminary: true },
      { ...result, result: ['final'] },
      { ...result, result: { errorCode: 'x' }, isError: true },
      { ...result, result: 'words' },
      finish('stop'),
    );
    expect(content[0]).toMatchObject({ type: 'tool-call', providerExecuted: true });
    expect(content.slice(1).map((part) => part.type === 'tool-result' && part.output)).toEqual([
      { type: 'json', value: ['final'] },
      { type: 'error-json', value: { errorCode: 'x' } },
      { type: 'text', value: 'words' },
    ]);
  });
});

describe('other parts', () => {
  test('files are kept as base64 or as their URL', async () => {
    const { content } = await read(
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://x.example/y') } },
      finish('stop'),
    );
    expect(content).toEqual([
      { type: 'file', mediaType: 'image/png', data: 'AQID' },
      { type: 'file', mediaType: 'image/png', data: 'https://x.example/y' },
    ]);
  });

  test('custom parts are kept and sent back unchanged', async () => {
    const { content } = await read(
      { type: 'custom', kind: 'anthropic.fallback', providerMetadata: { anthropic: { from: 'a' } } },
      { type: 'custom', kind: 'anthropic.message_start', providerMetadata: { anthropic: { id: 'msg' } } },
      finish('stop'),
    );
    expect(content).toEqual([
      { type: 'custom', kind: 'anthropic.fallback', providerOptions: { anthropic: { from: 'a' } } },
    ]);
    const [sent] = toPrompt([{ role: 'assistant', content }], 'front', new WeakMap());
    expect(sent).toEqual({ role: 'assistant', content: [expect.objectContaining({ kind: 'anthropic.fallback' })] });
  });

  test('parts without a message part of their own are kept, and left out when the conversation is sent', async () => {
    const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://x.example' };
    const future = { type: 'hologram', at: new Date(0), nested: { bytes: new Uint8Array([255]) } };
    const { content } = await read(source, future, finish('stop'));
    expect(content).toEqual([
      { type: 'custom', kind: 'google.source', providerOptions: { goondan: { part: source } } },
      {
        type: 'custom',
        kind: 'google.hologram',
        providerOptions: {
          goondan: { part: { type: 'hologram', at: '1970-01-01T00:00:00.000Z', nested: { bytes: '/w==' } } },
        },
      },
    ]);
    expect(toPrompt([{ role: 'assistant', content }], 'front', new WeakMap())).toEqual([]);
  });

  test('reasoning images are kept and sent back as such', async () => {
    const { content } = await read(
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AAAA' },
        providerMetadata: { google: { thoughtSignature: 't' } },
      },
      finish('stop'),
    );
    expect(content).toMatchObject([{ type: 'custom', kind: 'google.reasoning-file' }]);
    expect(toPrompt([{ role: 'assistant', content }], 'front', new WeakMap())[0]?.content).toEqual([
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AAAA' },
        providerOptions: { google: { thoughtSignature: 't' } },
      },
    ]);
  });
});

describe('the end of a stream', () => {
  test.each(['stop', 'length', 'tool-calls', 'content-filter', 'other'] as const)(
    '%s is reported as the finish reason',
    async (reason) => {
      expect((await read(finish(reason))).finishReason).toBe(reason);
    },
  );

  test('usage has the known counts', async () => {
    expect((await read(finish('stop'))).usage).toEqual({
      inputTokens: 5,
      outputTokens: 7,
      totalTokens: 12,
      reasoningTokens: 3,
    });
  });

  test('id and model of the response are kept', async () => {
    const { response } = await read(
      { type: 'response-metadata', id: 'r', modelId: 'm', timestamp: new Date() },
      finish('stop'),
    );
    expect(response).toEqual({ id: 'r', modelId: 'm' });
  });

  test('a signal ends the reading of a stream that ignores it', async () => {
    const controller = new AbortController();
    const { promise: cancelled, resolve: cancel } = Promise.withResolvers<unknown>();
    const endless = new ReadableStream<LanguageModelV4StreamPart>({ cancel });
    const reading = readStream(endless, {
      provider: 'google',
      label: 'google/x',
      signal: controller.signal,
      onDelta: () => {},
    });
    controller.abort('stop');
    await failureOf(reading);
    expect(await cancelled).toBe('stop');
  });

  test.each<[string, object[]]>([
    ['no finish', []],
    ['an interrupted stream', [finish('interrupted', undefined)]],
    ['an error without text', [finish('error', 'MALFORMED_FUNCTION_CALL')]],
    ['no reason and no text', [{ type: 'finish', finishReason: { unified: 'other', raw: undefined }, usage }]],
  ])('%s is retryable', async (_what, parts) => {
    expect(await failureOf(read(...parts))).toMatchObject({ code: 'E_MODEL_FAILED', retryable: true });
  });
});
