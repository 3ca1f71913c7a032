import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findSandbox } from './find-sandbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'goondan-bwrap-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder with a `bwrap` that does this. */
function fakeBubblewrap(script: string): string {
  const own = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(join(own, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(own, 'bwrap'), 0o755);
  return own;
}

describe('whether there is a sandbox', () => {
  test('bubblewrap is not there', async () => {
    expect(await findSandbox(false, folder)).toEqual({ works: false, why: 'bubblewrap (bwrap) is not installed' });
  });

  test('it is there and the system does not let it: what it says is said', async () => {
    const path = fakeBubblewrap('echo "bwrap: No permissions to create new namespace" >&2; exit 1');
    expect(await findSandbox(false, path)).toEqual({
      works: false,
      why: 'bubblewrap is installed and does not work here (bwrap: No permissions to create new namespace)',
    });
  });

  test('it is there and says nothing', async () => {
    const why = 'bubblewrap is installed and does not work here (exit code 3)';
    expect(await findSandbox(false, fakeBubblewrap('exit 3'))).toEqual({ works: false, why });
  });

  test('it works; whether without a network is another question', async () => {
    const path = fakeBubblewrap('case "$*" in *--share-net*) exit 0;; *) echo no loopback >&2; exit 1;; esac');
    expect(await findSandbox(true, path)).toEqual({ works: true, program: join(path, 'bwrap') });
    expect(await findSandbox(false, path)).toMatchObject({ works: false });
  });
});
