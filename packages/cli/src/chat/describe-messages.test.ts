import { describe, expect, test } from 'bun:test';
import { createAssistantMessage, createSystemMessage, createUserMessage, type Message } from '@goondan/types';
import { describeMessages, sentIn } from './describe-messages.ts';

const all = { messages: 100, lines: 100, columns: 80 };

function texts(messages: readonly Message[], bounds = all): string[] {
  return describeMessages(messages, bounds).map((each) => each.map(({ text }) => text).join(''));
}

const call = createAssistantMessage([
  { type: 'text', text: 'Let me look.' },
  { type: 'tool-call', toolCallId: '1', toolName: 'weather__get', input: { city: 'x'.repeat(200) } },
]);

describe('describeMessages', () => {
  test('shows messages and calls, with an empty line before each question', () => {
    const messages = [
      createSystemMessage('Be brief.'),
      createUserMessage('one\ntwo'),
      call,
      createAssistantMessage('Sunny.'),
      createUserMessage('Thanks'),
    ];
    expect(texts(messages)).toEqual([
      '> one',
      '  two',
      'Let me look.',
      expect.stringMatching(/^ {2}· weather__get {"city":"x{70}…$/),
      'Sunny.',
      '',
      '> Thanks',
    ]);
  });

  test('shows the last messages, starting with a question, and how to see the others', () => {
    const messages = [1, 2, 3].flatMap((turn) => [createUserMessage(`q${turn}`), createAssistantMessage(`a${turn}`)]);
    expect(texts(messages, { ...all, messages: 3 })).toEqual(['(4 earlier messages: /history 6)', '', '> q3', 'a3']);
    const [hidden] = texts([createAssistantMessage('Hi.'), ...messages.slice(-2)], { ...all, messages: 2 });
    expect(hidden).toBe('(1 earlier message: /history 3)');
  });

  test('a long message is cut', () => {
    const long = createAssistantMessage(['a', 'b', 'c', 'd'].join('\n'));
    expect(texts([long], { ...all, lines: 3 })).toEqual(['a', 'b', '… 2 more lines']);
  });

  test('an empty conversation shows nothing', () => {
    expect(texts([])).toEqual([]);
  });
});

test('sentIn: messages that the person sent, without those of extensions', () => {
  const injected = createUserMessage('injected', {}, { source: { type: 'extension', extensionName: 'x' } });
  expect(sentIn([createUserMessage('one'), injected, call])).toEqual(['one']);
});
