import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// This check runs on Bun. test/packed runs the same programs on Node, with the installed packages.
const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-embed-'));
try {
  const child = Bun.spawn([process.execPath, 'program.mjs'], {
    cwd: import.meta.dirname,
    env: { ...process.env, GOONDAN_STATE_ROOT: stateRoot },
  });
  assert.equal(
    await child.stdout.text(),
    'till__sell {"fruit":"apples","count":3}: approved\nDone: 3 apples sold.\ntext_response\n',
  );
  assert.equal(await child.exited, 0);
} finally {
  await rm(stateRoot, { recursive: true, force: true });
}
