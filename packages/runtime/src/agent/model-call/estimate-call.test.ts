import { describe, expect, test } from 'bun:test';
import { type ContentPart, fileReferenceOf, type ModelMessage, type ToolCatalogItem } from '@goondan/types';
import { estimateInput } from './estimate-call.ts';

const user = (...content: ContentPart[]): ModelMessage => ({ role: 'user', content });
const stored = fileReferenceOf('0'.repeat(64));

describe('Y-04 the estimate of the input', () => {
  // 8: a token for the word, and 7 of the format of OpenAI's chat. 14: the count in Anthropic's documentation.
  test.each([
    [[user({ type: 'text', text: 'Hello' })], 8],
    [[{ role: 'system', content: 'You are a scientist' } as const, user({ type: 'text', text: 'Hello, Claude' })], 14],
  ])('is above the real number, and at most three times as high for short texts', (messages, counted) => {
    expect(estimateInput(messages, [])).toBeWithin(counted, 3 * counted);
  });

  test('grows with the text, by half a token a byte', () => {
    const [short, long] = [10, 10_010].map((length) => user({ type: 'text', text: 'x'.repeat(length) }));
    if (short === undefined || long === undefined) throw new Error('Two messages are made.');
    expect(estimateInput([long], []) - estimateInput([short], [])).toBe(5_000);
  });

  test('has the tokens of an image for a reference, for a URL and for bytes', () => {
    for (const image of [stored, 'https://example.com/a.png', 'x'.repeat(4_000)]) {
      expect(estimateInput([user({ type: 'image', image })], [])).toBeWithin(6_000, 6_100);
      const result: ModelMessage = {
        role: 'tool',
        content: [
          {
            ...{ type: 'tool-result', toolCallId: '1', toolName: 'look' },
            output: { type: 'content', value: [{ type: 'image', image }] },
          },
        ],
      };
      expect(estimateInput([result], [])).toBeWithin(6_000, 6_100);
    }
  });

  test('has the size of a stored file', () => {
    const file = (mediaType: string, size: number) =>
      estimateInput([user({ type: 'file', data: stored, mediaType, size })], []);
    expect(file('text/plain', 1_000_000)).toBeWithin(500_000, 500_100);
    expect(file('application/pdf', 10_000)).toBeWithin(11_000, 11_100);
    expect(file('application/pdf', 20_000_000)).toBeWithin(200_000, 200_100);
  });

  test('has the tools, the schema of the answer, and the instructions that providers add for them', () => {
    const tool = { name: 'get', description: 'x'.repeat(200), parameters: { type: 'object' } } as ToolCatalogItem;
    const schema = { type: 'object', description: 'x'.repeat(200) } as const;
    const alone = estimateInput([user({ type: 'text', text: 'Hello' })], []);
    expect(estimateInput([user({ type: 'text', text: 'Hello' })], [tool]) - alone).toBeWithin(650, 750);
    expect(estimateInput([user({ type: 'text', text: 'Hello' })], [], schema) - alone).toBeWithin(650, 750);
  });
});
