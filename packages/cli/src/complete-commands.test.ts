import { expect, test } from 'bun:test';
import { completeCommands } from './complete-commands.ts';
import { createProgram } from './create-program.ts';
import { openTerminal } from './terminal.ts';

const silent = { write: () => undefined };
const program = createProgram(openTerminal({ stdout: silent, stderr: silent, env: {} }), () => undefined);

test.each([
  ['List them with `gdn instance list`.', 'List them with `gdn instance list --bundle a`.'],
  ['`gdn deadletter retry ID`', '`gdn deadletter retry ID --bundle a`'],
  ['`gdn run --input TEXT`, or `gdn run`', '`gdn run a --input TEXT`, or `gdn run a`'],
  ['`gdn run b --detach`', '`gdn run b --detach`'],
  ['`gdn fork --at 2`, `gdn trace`', '`gdn fork --at 2`, `gdn trace --bundle a`'],
  ['`gdn stop --bundle b`', '`gdn stop --bundle b`'],
  ['`gdn run --help`, `gdn ls`, `gdn init`, `gdn`', '`gdn run --help`, `gdn ls`, `gdn init`, `gdn`'],
  ['`gdn mcp add x -- npx x`', '`gdn mcp add x -- npx x`'],
])('%p selects the same bundle', (text, expected) => {
  expect(completeCommands(text, program, { bundle: 'a' })).toBe(expected);
});

test('the swarm and the state root are named too, once', () => {
  const selected = { swarm: 'night', stateRoot: '/s t' };
  expect(completeCommands('`gdn trace`', program, selected)).toBe("`gdn trace --swarm night --state-root '/s t'`");
  expect(completeCommands('`gdn trace --swarm x`', program, selected)).toBe(
    "`gdn trace --swarm x --state-root '/s t'`",
  );
});

test('a command on files gets no store', () => {
  const selected = { bundle: 'a', store: '@s' };
  const text = '`GOONDAN_STORE= gdn stop`, `gdn stop`';
  expect(completeCommands(text, program, selected)).toBe(
    "`GOONDAN_STORE= gdn stop --bundle a`, `gdn stop --bundle a --store '@s'`",
  );
});

test('nothing is added when nothing was selected', () => {
  expect(completeCommands('`gdn trace`, `gdn run`', program, {})).toBe('`gdn trace`, `gdn run`');
});
