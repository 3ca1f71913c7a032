import { describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSandbox } from './find-sandbox.ts';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';

const folder = temporaryFolder();

/** Creates a folder with a fake `bwrap` that runs this script. */
function fakeBubblewrap(script: string): string {
  const own = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(join(own, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(own, 'bwrap'), 0o755);
  return own;
}

describe('the search for a sandbox', () => {
  test('bubblewrap is not installed', async () => {
    expect(await findSandbox(false, folder)).toEqual({ works: false, why: 'bubblewrap (bwrap) is not installed' });
  });

  test('bubblewrap is installed but not allowed: its message is the reason', async () => {
    const path = fakeBubblewrap('echo "bwrap: No permissions to create new namespace" >&2; exit 1');
    expect(await findSandbox(false, path)).toEqual({
      works: false,
      why: 'bubblewrap is installed and does not work here (bwrap: No permissions to create new namespace)',
    });
  });

  test('bubblewrap is installed and fails without a message', async () => {
    const why = 'bubblewrap is installed and does not work here (exit code 3)';
    expect(await findSandbox(false, fakeBubblewrap('exit 3'))).toEqual({ works: false, why });
  });

  test('bubblewrap works; the case without a network is checked separately', async () => {
    const path = fakeBubblewrap('case "$*" in *--share-net*) exit 0;; *) echo no loopback >&2; exit 1;; esac');
    expect(await findSandbox(true, path)).toEqual({ works: true, program: join(path, 'bwrap') });
    expect(await findSandbox(false, path)).toMatchObject({ works: false });
  });
});
