import { expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asUser, isRoot, NOBODY, reachable } from './reachable-programs.ts';

test('programs that the user of the server cannot reach are copied for it', () => {
  const root = mkdtempSync(join(tmpdir(), 'gdn-programs-'));
  try {
    const [programs, folder] = [join(root, 'closed', 'native'), join(root, 'server')];
    mkdirSync(join(programs, 'bin'), { recursive: true });
    mkdirSync(folder);
    for (const name of ['initdb', 'postgres'])
      writeFileSync(join(programs, 'bin', name), '#!/bin/sh\necho it runs\n', { mode: 0o755 });
    for (const path of [root, folder]) chmodSync(path, 0o755);
    if (isRoot()) chownSync(folder, NOBODY, NOBODY);
    const binaries = { initdb: join(programs, 'bin', 'initdb'), postgres: join(programs, 'bin', 'postgres') };
    expect(reachable(binaries, folder)).toEqual(binaries);
    chmodSync(join(root, 'closed'), 0o700);
    for (const program of Object.values(reachable(binaries, folder)))
      expect(Bun.spawnSync([...asUser(), program]).stdout.toString()).toBe('it runs\n');
  } finally {
    rmSync(root, { recursive: true });
  }
});
