import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { type BundleUse, recoverBundle } from './recover-bundle.ts';

const folder = temporaryFolder();

/** Returns the lines that are printed. */
async function recover(stateRoot: string, use: BundleUse): Promise<string> {
  let printed = '';
  await recoverBundle(folder, use, { stateRoot }, { printError: (text) => void (printed += text) });
  return printed;
}

test('changesets that cannot be read stop a command that uses the bundle, and are a warning for others', async () => {
  const stateRoot = join(folder, 'state');
  mkdirSync(stateRoot);
  writeFileSync(join(stateRoot, 'changesets'), 'not a folder');
  for (const use of ['no', 'look'] as const) {
    expect(await recover(stateRoot, use)).toMatch(/^warn: .*\(E_STORE_READ\)\n$/);
  }
  expect(recover(stateRoot, 'use')).rejects.toMatchObject({ code: 'E_STORE_READ' });
});

test('a state root that cannot be used is left to the command', async () => {
  const stateRoot = join(folder, 'file');
  writeFileSync(stateRoot, '');
  expect(await recover(stateRoot, 'use')).toBe('');
});
