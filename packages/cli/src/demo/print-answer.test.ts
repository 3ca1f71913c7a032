import { expect, test } from 'bun:test';
import type { TurnDelta } from '@goondan/types';
import { openTerminal } from '../terminal.ts';
import { printAnswer } from './print-answer.ts';

const step = { turnId: 'turn-1', stepId: 'turn-1.step-0', stepIndex: 0 };

test('prints as the text arrives for a person, and nothing twice', () => {
  expect(print(true, [say('It is '), say('sunny.')], 'It is sunny.')).toEqual(['It is ', 'sunny.', '\n']);
});

test('waits for the end without a terminal', () => {
  expect(print(false, [say('It is '), say('sunny.')], 'It is sunny.')).toEqual(['It is sunny.\n']);
});

test('starts over on a new line when a step is retried', () => {
  const deltas = [say('It is'), { type: 'discard', ...step } as const, say('Sunny.')];
  expect(print(true, deltas, 'Sunny.')).toEqual(['It is', '\n       ', 'Sunny.', '\n']);
});

test('a step that is retried before any text prints nothing', () => {
  expect(print(true, [{ type: 'discard', ...step }, say('Sunny.')], 'Sunny.')).toEqual(['Sunny.', '\n']);
});

test('shows the final answer when a layer changed it', () => {
  expect(print(true, [say('Sunny.')], 'Rainy.')).toEqual(['Sunny.', '\n       Rainy.\n']);
});

test('a later step begins on a new line', () => {
  const later = { ...step, stepId: 'turn-1.step-1', stepIndex: 1 };
  const deltas = [say('Let me look.'), { ...say('Sunny.'), ...later }];
  expect(print(true, deltas, 'Sunny.')).toEqual(['Let me look.', '\n       ', 'Sunny.', '\n']);
});

test('ends its line when there is no answer', () => {
  expect(print(true, [say('It is')], '')).toEqual(['It is', '\n']);
  expect(print(false, [], '')).toEqual(['\n']);
});

test('text of a model is made harmless on a terminal, and unchanged in a pipe', () => {
  const deltas = [say('\x1b[31m'), say('red\r\n'), say('one')];
  expect(print(true, deltas, '\x1b[31mred\r\none')).toEqual(['␛[31m', 'red\n', 'one', '\n']);
  expect(print(true, [], '\x1b[31mred')).toEqual(['␛[31mred\n']);
  expect(print(false, deltas, '\x1b[31mred')).toEqual(['\x1b[31mred\n']);
});

test('does not print the model’s reasoning', () => {
  expect(print(true, [{ type: 'reasoning', text: 'Hm.', ...step }, say('Sunny.')], 'Sunny.')).toEqual(['Sunny.', '\n']);
});

/** Returns the output after the question and the name, as it was printed piece by piece. */
function print(isWatched: boolean, deltas: readonly TurnDelta[], response: string): string[] {
  const printed: string[] = [];
  const stdout = { write: (text: string) => printed.push(text), isTTY: isWatched };
  const terminal = openTerminal({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
  const answer = printAnswer('How is the weather?', terminal);
  for (const delta of deltas) answer.stream(delta);
  answer.end(response);
  expect(printed.shift()).toBe('You    How is the weather?\n');
  const [first = '', ...others] = printed;
  // The name is printed together with the first word, and not earlier.
  expect(first).toStartWith('Agent  ');
  return [first.slice('Agent  '.length), ...others];
}

function say(text: string): TurnDelta {
  return { type: 'text', text, ...step };
}
