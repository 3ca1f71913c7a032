// Tests with real processes: the launcher, on a Node that pretends to run on another system.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { errorCatalogue } from '@goondan/types';
import { exitCodes } from './exit-codes.ts';

const launcher = join(import.meta.dir, '../bin/gdn.cjs');
const windows = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"win32"})';

test('E_PLATFORM: gdn refuses systems other than Linux and macOS, with exit code 3', () => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(['node', '--import', windows, launcher, 'demo']);
  expect({ stdout: stdout.toString(), stderr: stderr.toString(), exitCode }).toEqual({
    stdout: '',
    stderr: `E_PLATFORM: Goondan does not run on win32.\n${errorCatalogue.E_PLATFORM.suggestion}\n`,
    exitCode: exitCodes.setup,
  });
});
