import { expect, test } from 'bun:test';
import { type ChatCommand, readInput } from './read-command.ts';

const message = (text: string) => ({ type: 'message' as const, text });
const command = (read: ChatCommand) => ({ type: 'command' as const, command: read });

test.each([
  ['hello', message('hello')],
  ['/etc/passwd, what is it?', message('/etc/passwd, what is it?')],
  ['/help\nme', message('/help\nme')],
  ['//help', message('/help')],
  ['/ help', message('/ help')],
  ['/help', command({ name: 'help' })],
  ['/HELP ', command({ name: 'help' })],
  ['/questions', command({ name: 'questions' })],
  ['/quit', command({ name: 'quit' })],
  ['/exit', command({ name: 'quit' })],
  ['/history', command({ name: 'history', count: 20 })],
  ['/history 5', command({ name: 'history', count: 5 })],
  ['/agent', command({ name: 'agent' })],
  ['/agent helper', command({ name: 'agent', agent: 'helper' })],
  ['/agent helper my key', command({ name: 'agent', agent: 'helper', instanceKey: 'my key' })],
  ['/trace 1f', command({ name: 'trace', id: '1f' })],
  ['/new', command({ name: 'new' })],
  ['/new plan b', command({ name: 'new', instanceKey: 'plan b' })],
])('%j', (text, read) => {
  expect(readInput(text)).toEqual(read);
});

test.each([
  ['/hlep', 'There is no /hlep. Did you mean /help? To send it as a message, begin with //.'],
  ['/xyzzy', 'There is no /xyzzy. /help lists the commands. To send it as a message, begin with //.'],
  ['/history many', '/history takes a number from 1 to 10000, not "many".'],
  ['/history 0', '/history takes a number from 1 to 10000, not "0".'],
  ['/quit now', '/quit takes nothing after it.'],
])('%j: the mistake is named', (text, problem) => {
  expect(readInput(text)).toEqual({ type: 'mistake', problem });
});
