import { expect, test } from 'bun:test';
import { createAssistantMessage, createUserMessage, type Message } from '@goondan/types';
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

test('tool calls and results are printed in full, in the form of gdn history', () => {
  const value = { text: 'x'.repeat(500) };
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'clock__now', input: { zone: 'UTC' } } as const;
  const result = {
    type: 'tool-result',
    toolCallId: 'c',
    toolName: 'clock__now',
    output: { type: 'json', value },
  } as const;
  let printed = '';
  const stdout = { write: (text: string) => void (printed += text) };
  const terminal = openTerminal({ stdout, stderr: { write: () => undefined }, env: {} });
  const asked = createAssistantMessage([call]);
  const answered: Message = { ...asked, id: 'm2', data: { role: 'tool', content: [result] } };
  printMessages([asked, answered], terminal);
  expect(printed).toBe(`assistant  → clock__now {"zone":"UTC"}\ntool  ${JSON.stringify(value)}\n`);
});

test('an empty conversation is reported on standard error', () => {
  const printed: string[] = [];
  const said: string[] = [];
  const stdout = { write: (text: string) => printed.push(text) };
  const stderr = { write: (text: string) => said.push(text) };
  printMessages([], openTerminal({ stdout, stderr, env: {} }));
  expect([printed, said]).toEqual([[], ['There are no messages.\n']]);
});
