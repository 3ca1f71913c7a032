import { describe, expect, test } from 'bun:test';
import type { AssistantPart, ModelMessage } from '@goondan/types';
import { ask, openAt } from './wire/ask-model.ts';
import { providerCases } from './wire/provider-cases.ts';
import { startWireServer } from './wire/wire-server.ts';

const keys = ['anthropic', 'google', 'openai', 'openaiCompatible'];

/** The parts that only one provider understands. Each has the word `of-…` in it. */
function partsOf(key: string, kind: string): AssistantPart[] {
  const providerOptions = { [key]: { signature: `signature of-${key}`, thoughtSignature: `thought of-${key}` } };
  const ran = { toolCallId: `run-of-${key}`, toolName: 'code_execution', providerOptions: { [key]: {} } };
  return [
    { type: 'reasoning', text: `reasoning of-${key}`, providerOptions },
    {
      type: 'custom',
      kind: `${kind}.reasoning-file`,
      providerOptions: {
        goondan: {
          part: { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: `of-${key}` } },
        },
      },
    },
    { type: 'tool-call', ...ran, input: { type: 'none', code: `code of-${key}` }, providerExecuted: true },
    { type: 'tool-result', ...ran, output: { type: 'text', value: `result of-${key}` } },
    { type: 'text', text: `text after ${key}` },
  ];
}

describe.each(providerCases)('Y-06 %s', (name, provider) => {
  test('gets a conversation with parts of all other providers without those parts', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { usage: { input: 1, output: 1, cached: 0 }, text: ['Yes.'] } });
    const own = name === 'openai-compatible' ? 'openaiCompatible' : name;
    const messages: ModelMessage[] = keys.flatMap((key): ModelMessage[] => {
      const content =
        key === own
          ? [{ type: 'text' as const, text: 'Hm.' }]
          : partsOf(key, key === 'openaiCompatible' ? 'openai-compatible' : key);
      return [
        { role: 'user', content: `Question for ${key}` },
        { role: 'assistant', content },
      ];
    });
    await ask(openAt(server.url, provider), [...messages, { role: 'user', content: 'And now?' }]);
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent.match(/\w* ?of-\w+/g)).toBeNull();
    expect(sent.match(/text after/g)).toHaveLength(3);
  });
});
