/** For tests: a folder that is removed after all tests of the file. */
import { afterAll } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gdn-')));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
