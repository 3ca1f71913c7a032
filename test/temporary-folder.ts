/** A folder for the tests of one file. Call it at the top of the file: the folder is removed after the last test. */
import { afterAll } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-test-')));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
