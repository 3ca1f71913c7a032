import { expect, test } from 'bun:test';
import { createAssistantMessage, createUserMessage } from '@goondan/types';
import { openTerminal } from '../terminal.ts';
import { printMessages } from './print-messages.ts';

const messages = [createUserMessage('\x1b[2Jone\ntwo'), createAssistantMessage([{ type: 'text', text: 'three' }])];

test.each([
  [true, 'user  ␛[2Jone\ntwo\nassistant  three\n'],
  [false, 'user  \x1b[2Jone\ntwo\nassistant  three\n'],
])('text of a message is harmless on a terminal, and unchanged elsewhere (%p)', (isTTY, expected) => {
  let printed = '';
  const stdout = { isTTY, write: (text: string) => void (printed += text) };
  printMessages(messages, openTerminal({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } }));
  expect(printed).toBe(expected);
});

test('an empty conversation is reported on standard error', () => {
  const printed: string[] = [];
  const said: string[] = [];
  const stdout = { write: (text: string) => printed.push(text) };
  const stderr = { write: (text: string) => said.push(text) };
  printMessages([], openTerminal({ stdout, stderr, env: {} }));
  expect([printed, said]).toEqual([[], ['There are no messages.\n']]);
});
