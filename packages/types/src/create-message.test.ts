import { describe, expect, test } from 'bun:test';
import { createAssistantMessage, createSystemMessage, createUserMessage } from './create-message.ts';
import type { MessageSource, NewMessage } from './message.ts';

type Builder = (...given: Parameters<typeof createSystemMessage>) => NewMessage;

const builders: [role: 'system' | 'user' | 'assistant', build: Builder, source: MessageSource][] = [
  ['system', createSystemMessage, { type: 'system' }],
  ['user', createUserMessage, { type: 'user' }],
  ['assistant', createAssistantMessage, { type: 'assistant', stepId: '' }],
];

describe.each(builders)('the builder of %s messages', (role, build, source) => {
  test('M-09 fills in an id, a date, the source and empty metadata when only text is given', () => {
    const before = Date.now();
    const message = build('words');
    expect(message).toEqual({
      id: expect.stringMatching(/^msg-[\da-f-]{36}$/),
      data: { role, content: 'words' },
      metadata: {},
      createdAt: expect.any(Date),
      source,
    });
    expect(message.createdAt.getTime()).toBeWithin(before, Date.now() + 1);
  });

  test('M-09 uses the given fields instead', () => {
    const options = {
      id: 'mine',
      createdAt: new Date(7),
      source: { type: 'extension', extensionName: 'skills' } as const,
    };
    expect(build('words', { pinned: true }, options)).toEqual({
      ...options,
      data: { role, content: 'words' },
      metadata: { pinned: true },
    });
  });

  test('no two messages share an id or metadata', () => {
    const [one, other] = [build('a'), build('b')];
    expect(one.id).not.toBe(other.id);
    one.metadata.pinned = true;
    expect(other.metadata).toEqual({});
  });
});

test('user and assistant messages may have parts as content', () => {
  const parts = [{ type: 'text' as const, text: 'look' }];
  expect(createUserMessage(parts).data).toEqual({ role: 'user', content: parts });
  expect(createAssistantMessage(parts).data).toEqual({ role: 'assistant', content: parts });
});
