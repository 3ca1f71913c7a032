import { describe, expect, test } from 'bun:test';
import type { TurnDelta } from '@goondan/types';
import { openTerminal } from '../terminal.ts';
import { printAnswer } from './print-answer.ts';

const step = { turnId: 'turn-1', stepId: 'turn-1.step-0', stepIndex: 0 };

describe('printAnswer', () => {
  test('writes along when somebody watches, and says nothing twice', () => {
    expect(print(true, [say('It is '), say('sunny.')], 'It is sunny.')).toEqual(['It is ', 'sunny.', '\n']);
  });

  test('waits for the end when nobody watches', () => {
    expect(print(false, [say('It is '), say('sunny.')], 'It is sunny.')).toEqual(['It is sunny.\n']);
  });

  test('starts over on a new line when a step is tried again', () => {
    const deltas = [say('It is'), { type: 'discard', ...step } as const, say('Sunny.')];
    expect(print(true, deltas, 'Sunny.')).toEqual(['It is', '\n       ', 'Sunny.', '\n']);
  });

  test('a step that is tried again before it said anything leaves no trace', () => {
    expect(print(true, [{ type: 'discard', ...step }, say('Sunny.')], 'Sunny.')).toEqual(['Sunny.', '\n']);
  });

  test('shows the answer that counts when a layer has changed it', () => {
    expect(print(true, [say('Sunny.')], 'Rainy.')).toEqual(['Sunny.', '\n       Rainy.\n']);
  });

  test('a later step starts on a line of its own', () => {
    const later = { ...step, stepId: 'turn-1.step-1', stepIndex: 1 };
    const deltas = [say('Let me look.'), { ...say('Sunny.'), ...later }];
    expect(print(true, deltas, 'Sunny.')).toEqual(['Let me look.', '\n       ', 'Sunny.', '\n']);
  });

  test('ends its line when there is no answer', () => {
    expect(print(true, [say('It is')], '')).toEqual(['It is', '\n']);
    expect(print(false, [], '')).toEqual(['\n']);
  });

  test('what a model says is shown to who watches, not obeyed, and left as it is in a pipe', () => {
    const deltas = [say('\x1b[31m'), say('red\r\n'), say('one')];
    expect(print(true, deltas, '\x1b[31mred\r\none')).toEqual(['␛[31m', 'red\n', 'one', '\n']);
    expect(print(true, [], '\x1b[31mred')).toEqual(['␛[31mred\n']);
    expect(print(false, deltas, '\x1b[31mred')).toEqual(['\x1b[31mred\n']);
  });

  test('keeps what the model thinks to itself', () => {
    expect(print(true, [{ type: 'reasoning', text: 'Hm.', ...step }, say('Sunny.')], 'Sunny.')).toEqual([
      'Sunny.',
      '\n',
    ]);
  });
});

/** What is printed after the question and the name, piece by piece. */
function print(isWatched: boolean, deltas: readonly TurnDelta[], response: string): string[] {
  const printed: string[] = [];
  const stdout = { write: (text: string) => printed.push(text), isTTY: isWatched };
  const terminal = openTerminal({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
  const answer = printAnswer('How is the weather?', terminal);
  for (const delta of deltas) answer.stream(delta);
  answer.end(response);
  expect(printed.shift()).toBe('You    How is the weather?\n');
  const [first = '', ...others] = printed;
  // Who answers is said with the first word, and not before.
  expect(first).toStartWith('Agent  ');
  return [first.slice('Agent  '.length), ...others];
}

function say(text: string): TurnDelta {
  return { type: 'text', text, ...step };
}
