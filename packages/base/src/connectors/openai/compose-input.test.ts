import { expect, test } from 'bun:test';
import { composeInput } from './compose-input.ts';

const earlier = [
  { role: 'system', text: 'Be brief.' },
  { role: 'user', text: 'My name is Kim.' },
  { role: 'assistant', text: 'Hello, Kim.' },
  { role: 'assistant', text: ' ' },
] as const;

test('only the message, when there was none before', () => {
  expect(composeInput([], 'Hello.', {})).toBe('Hello.');
  expect(composeInput(earlier.slice(0, 1), 'Hello.', {})).toBe('Hello.');
});

test('the earlier messages, and the new one', () => {
  expect(composeInput(earlier, 'Who am I?', {})).toBe(
    'Earlier in this conversation:\n\nUser: My name is Kim.\n\nAssistant: Hello, Kim.\n\nThe new message:\n\nWho am I?',
  );
  expect(composeInput(earlier, 'Who am I?', { systemMessages: 'context' })).toContain(
    'Instructions: Be brief.\n\nUser:',
  );
});

test('the newest part of a long transcript', () => {
  const long = [{ role: 'user', text: `${'x'.repeat(500)} the end` }] as const;
  const input = composeInput(long, 'Go on.', { contextLimit: 20 });
  expect(input).toContain(`\n\n…${'x'.repeat(12)} the end\n\n`);
});
