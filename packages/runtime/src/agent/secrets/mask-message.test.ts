import { describe, expect, test } from 'bun:test';
import { type AssistantPart, fileReferenceOf, type Message, type ModelMessage } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { maskSecrets, noSecrets } from '../../log/mask-secrets.ts';
import { maskMessage, maskMessageEvent, maskModelMessage } from './mask-message.ts';

const secret = 'canary-12345';
const mask = maskSecrets([secret]);

const parts: AssistantPart[] = [
  { type: 'text', text: `a ${secret}` },
  { type: 'reasoning', text: `b ${secret}` },
  { type: 'file', data: `https://example.com/?key=${secret}`, mediaType: 'text/plain' },
  { type: 'tool-call', toolCallId: '1', toolName: 'x__y', input: { deep: [{ [secret]: `c ${secret}` }] } },
  { type: 'tool-result', toolCallId: '1', toolName: 'x__y', output: { type: 'json', value: { key: secret } } },
  { type: 'tool-result', toolCallId: '2', toolName: 'x__y', output: { type: 'text', value: secret } },
  { type: 'tool-result', toolCallId: '3', toolName: 'x__y', output: { type: 'execution-denied', reason: secret } },
];

describe('a message', () => {
  test('has no secret in any of its parts', () => {
    const masked = maskModelMessage({ role: 'assistant', content: parts }, mask);
    expect(JSON.stringify(masked)).not.toContain('canary');
    expect(masked.content).toEqual([
      { type: 'text', text: 'a ***' },
      { type: 'reasoning', text: 'b ***' },
      { type: 'file', data: 'https://example.com/?key=***', mediaType: 'text/plain' },
      { type: 'tool-call', toolCallId: '1', toolName: 'x__y', input: { deep: [{ '***': 'c ***' }] } },
      { type: 'tool-result', toolCallId: '1', toolName: 'x__y', output: { type: 'json', value: { key: '***' } } },
      { type: 'tool-result', toolCallId: '2', toolName: 'x__y', output: { type: 'text', value: '***' } },
      { type: 'tool-result', toolCallId: '3', toolName: 'x__y', output: { type: 'execution-denied', reason: '***' } },
    ]);
    const image: ModelMessage = { role: 'user', content: [{ type: 'image', image: secret }] };
    expect(maskModelMessage(image, mask)).toEqual({ role: 'user', content: [{ type: 'image', image: '***' }] });
    const plain: ModelMessage = { role: 'system', content: secret };
    expect(maskModelMessage(plain, mask)).toEqual({ role: 'system', content: '***' });
  });

  test('keeps the whole reference to a file, also if a part of it equals a secret', () => {
    const image = fileReferenceOf(sha256('cat'));
    const message: ModelMessage = { role: 'user', content: [{ type: 'image', image, filename: `${secret}.png` }] };
    expect(maskModelMessage(message, maskSecrets([secret, image.slice(20, 40)]))).toEqual({
      role: 'user',
      content: [{ type: 'image', image, filename: '***.png' }],
    });
  });

  test('stays valid when a secret equals a word of the format', () => {
    const words = [
      'assistant',
      'tool-call',
      'tool-result',
      'reasoning',
      'execution-denied',
      'toolCallId',
      'x__y_and_z',
    ];
    const own: ModelMessage = {
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId: 'toolCallId', toolName: 'x__y_and_z', input: {} },
        { type: 'tool-result', toolCallId: 'toolCallId', toolName: 'x__y_and_z', output: { type: 'execution-denied' } },
        { type: 'reasoning', text: 'none' },
      ],
    };
    expect(maskModelMessage(own, maskSecrets(words))).toBe(own);
  });

  test('without a secret is returned as the same object, and so is its event', () => {
    const message: Message = {
      id: secret,
      data: { role: 'user', content: 'hello' },
      metadata: { a: 1 },
      createdAt: new Date(0),
      source: { type: 'user' },
    };
    expect(maskMessage(message, mask)).toBe(message);
    expect(maskMessage({ ...message, metadata: { key: secret } }, mask).metadata).toEqual({ key: '***' });
    for (const event of [{ type: 'append', message } as const, { type: 'truncate' } as const]) {
      expect(maskMessageEvent(event, mask)).toBe(event);
      expect(maskMessageEvent(event, noSecrets)).toBe(event);
    }
  });
});
