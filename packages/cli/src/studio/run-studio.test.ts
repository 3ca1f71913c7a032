import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { openTerminal } from '../terminal.ts';
import { runStudio } from './run-studio.ts';

test('Y-03 a price file that does not exist is a mistake of the command, with the path that was tried', () => {
  const silent = { write: () => true };
  const terminal = openTerminal({ stdout: silent, stderr: silent, env: {} });
  expect(runStudio({ prices: 'nowhere.yaml', opensBrowser: false }, terminal)).rejects.toMatchObject({
    code: 'E_USAGE',
    suggestion: `Check the path. The command looked for ${resolve('nowhere.yaml')}`,
  });
});
