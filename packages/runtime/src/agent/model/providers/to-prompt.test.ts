import { describe, expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { toPrompt, type PromptMemo, type SystemPlacement } from './to-prompt.ts';

const write = (messages: ModelMessage[], placement: SystemPlacement = 'in-place') =>
  toPrompt(messages, placement, new WeakMap());

const user: ModelMessage = { role: 'user', content: 'Hi' };
const call: ModelMessage = {
  role: 'assistant',
  content: [
    { type: 'tool-call', toolCallId: 'a', toolName: 'x__y', input: {} },
    { type: 'tool-call', toolCallId: 'b', toolName: 'x__y', input: {} },
  ],
};
const result = (toolCallId: string): ModelMessage => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName: 'x__y', output: { type: 'text', value: toolCallId } }],
});
const system = (content: string): ModelMessage => ({ role: 'system', content });
const roles = (messages: ModelMessage[], placement?: SystemPlacement) =>
  write(messages, placement).map(({ role }) => role);

describe('system messages', () => {
  const messages = [system('one'), user, call, result('a'), system('two'), result('b'), system('three'), user];

  test('in place, but never between a call and its results', () => {
    expect(roles(messages)).toEqual(['system', 'user', 'assistant', 'tool', 'system', 'system', 'user']);
    expect(write(messages)[3]?.content).toBeArrayOfSize(2);
  });

  test('at the front, in their order', () => {
    expect(roles(messages, 'front')).toEqual(['system', 'system', 'system', 'user', 'assistant', 'tool', 'user']);
    expect(
      write(messages, 'front')
        .slice(0, 3)
        .map(({ content }) => content),
    ).toEqual(['one', 'two', 'three']);
  });

  test('joined into one, with the options of all', () => {
    const cached: ModelMessage = {
      ...system('four'),
      providerOptions: { anthropic: { cacheControl: {} } },
    };
    expect(write([...messages, cached], 'joined')[0]).toEqual({
      role: 'system',
      content: 'one\n\ntwo\n\nthree\n\nfour',
      providerOptions: { anthropic: { cacheControl: {} } },
    });
    expect(roles(messages, 'joined')).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
  });
});

describe('messages that are left out', () => {
  test.each<[string, ModelMessage]>([
    ['an answer without parts', { role: 'assistant', content: [] }],
    ['an answer of empty text', { role: 'assistant', content: '' }],
    ['a question of empty text', { role: 'user', content: [{ type: 'text', text: '' }] }],
    ['an empty system message', { role: 'system', content: '' }],
    ['a tool message without results', { role: 'tool', content: [] }],
  ])('%s', (_what, message) => {
    expect(roles([user, message])).toEqual(['user']);
  });

  test('an empty system message with options is kept: Anthropic gives it a meaning', () => {
    expect(roles([user, { role: 'system', content: '', providerOptions: { anthropic: { effort: 'low' } } }])).toEqual([
      'user',
      'system',
    ]);
  });
});

describe('files', () => {
  const dataOf = (image: string, mediaType?: string) => {
    const [message] = write([
      { role: 'user', content: [{ type: 'image', image, ...(mediaType !== undefined && { mediaType }) }] },
    ]);
    return message?.content[0];
  };

  test('WebP is recognized by its bytes', () => {
    const webp = Buffer.from('RIFF\x12\x34\x56\x78WEBPVP8 ', 'latin1').toString('base64');
    expect(dataOf(webp, 'image/png')).toMatchObject({ mediaType: 'image/webp' });
  });

  test('a data URL that is not base64 is read as text', () => {
    const data = Buffer.from('<svg/>').toString('base64');
    expect(dataOf('data:image/svg+xml,%3Csvg/%3E')).toMatchObject({
      mediaType: 'image/svg+xml',
      data: { type: 'data', data },
    });
  });

  test('a data URL without data is refused with a code', () => {
    expect(() => dataOf('data:image/png')).toThrow(expect.objectContaining({ code: 'E_MESSAGE_INVALID' }));
  });
});

describe('memory', () => {
  const freeze = <Value>(value: Value): Value => {
    if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
    return value;
  };

  test('a frozen message is converted once', () => {
    const memo: PromptMemo = new WeakMap();
    const message = freeze<ModelMessage>({ role: 'user', content: [{ type: 'text', text: 'Hi' }] });
    const [first] = toPrompt([message], 'in-place', memo);
    const [second] = toPrompt([message, user], 'front', memo);
    expect(second === first).toBe(true);
  });

  test('a message that is not frozen is converted each time', () => {
    const memo: PromptMemo = new WeakMap();
    const part = { type: 'image' as const, image: 'AAAA', mediaType: 'image/png' };
    const message: ModelMessage = Object.freeze({ role: 'user' as const, content: [part] });
    toPrompt([message], 'in-place', memo);
    part.image = 'BBBB';
    expect(toPrompt([message], 'in-place', memo)[0]?.content[0]).toMatchObject({ data: { data: 'BBBB' } });
  });

  test('consecutive results are merged without changing the remembered ones', () => {
    const memo: PromptMemo = new WeakMap();
    const messages = [user, call, result('a'), result('b')].map((message) => freeze(structuredClone(message)));
    const first = JSON.stringify(toPrompt(messages, 'in-place', memo));
    expect(JSON.stringify(toPrompt(messages, 'in-place', memo))).toBe(first);
  });

  test('10 000 known messages need no conversion', () => {
    const memo: PromptMemo = new WeakMap();
    const messages = Array.from({ length: 2500 }, () => [user, call, result('a'), result('b')])
      .flat()
      .map((message) => freeze(structuredClone(message)));
    const before = toPrompt(messages, 'front', memo);
    const after = toPrompt(messages, 'front', memo);
    const isSame = (role: string) =>
      after.every((message, index) => message.role !== role || message === before[index]);
    expect(after).toBeArrayOfSize(7500);
    expect(isSame('user') && isSame('assistant')).toBe(true);
  });
});
