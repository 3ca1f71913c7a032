import { describe, expect, test } from 'bun:test';
import type { JsonValue, ModelMessage, ToolResultOutput, ToolResultPart } from '@goondan/types';
import { findNewestMessage, readNewestUserText, readOutput, readText, readToolResult } from './read-message.ts';

const result = (toolName: string): ToolResultPart => ({
  type: 'tool-result',
  toolCallId: 'call_1',
  toolName,
  output: { type: 'text', value: 'done' },
});

describe('findNewestMessage', () => {
  test('skips system messages at the end', () => {
    const user: ModelMessage = { role: 'user', content: 'hello' };
    expect(findNewestMessage([user, { role: 'system', content: 'be kind' }])).toBe(user);
  });

  test('finds nothing among system messages', () => {
    expect(findNewestMessage([{ role: 'system', content: 'be kind' }])).toBeUndefined();
  });
});

describe('readNewestUserText', () => {
  test('is the last user message, whatever messages follow', () => {
    const messages: ModelMessage[] = [
      { role: 'user', content: 'first' },
      { role: 'user', content: 'second' },
      { role: 'assistant', content: 'an answer' },
      { role: 'tool', content: [result('x__y')] },
    ];
    expect(readNewestUserText(messages)).toBe('second');
  });

  test('is empty without a user message', () => {
    expect(readNewestUserText([{ role: 'assistant', content: 'hello' }])).toBe('');
  });
});

test('readText returns the text parts without images', () => {
  const content: ModelMessage['content'] = [
    { type: 'text', text: 'look' },
    { type: 'image', image: 'aGVsbG8=' },
    { type: 'text', text: 'here' },
  ];
  expect(readText({ role: 'user', content })).toBe('look\nhere');
});

describe('readToolResult', () => {
  test('is the last of several results', () => {
    expect(readToolResult({ role: 'tool', content: [result('a__a'), result('b__b')] })?.toolName).toBe('b__b');
  });

  test('is found only in tool messages, not in results of the provider’s own tools', () => {
    expect(readToolResult({ role: 'assistant', content: [result('a__a')] })).toBeUndefined();
    expect(readToolResult(undefined)).toBeUndefined();
  });
});

const text = (value: string) => ({ type: 'text', text: value }) as const;

test.each<[output: ToolResultOutput, value: JsonValue]>([
  [{ type: 'json', value: { tempC: 3 } }, { tempC: 3 }],
  [{ type: 'text', value: 'plain' }, 'plain'],
  [{ type: 'content', value: [text('a note'), text('{"tempC":3}')] }, { tempC: 3 }],
  [{ type: 'content', value: [text('{"tempC":3}')] }, '{"tempC":3}'],
  [{ type: 'content', value: [text('a'), text('3')] }, 'a\n3'],
  [{ type: 'error-json', value: { code: 'E_X', message: 'no' } }, { error: { code: 'E_X', message: 'no' } }],
  [{ type: 'error-text', value: 'no' }, { error: { message: 'no' } }],
  [{ type: 'execution-denied', reason: 'not you' }, { error: { message: 'not you' } }],
  [{ type: 'execution-denied' }, { error: { message: '' } }],
])('readOutput of %j', (output, value) => {
  expect(readOutput(output)).toEqual(value);
});
