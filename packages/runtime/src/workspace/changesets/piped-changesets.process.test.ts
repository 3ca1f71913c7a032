// Tests named pipes in place of files of a changeset. Only a process can make a pipe.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../ports/clock.ts';
import { changesetPaths } from '../layout/changeset-paths.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { openChangesets } from './open-changesets.ts';

let root: string;
let warnings: string[];
const place = () => ({ stateRoot: join(root, 'state'), bundleFolder: join(root, 'bundle') });
const paths = () => changesetPaths(place().stateRoot, place().bundleFolder);
const open = () =>
  openChangesets({ ...place(), clock: systemClock, warn: ({ message }) => void warnings.push(message) });

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'changesets-')));
  warnings = [];
  mkdirSync(place().bundleFolder);
  writeFileSync(join(place().bundleFolder, 'a.md'), 'old');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function withEdit(content: string): Promise<string> {
  const { id } = await open().open({ swarm: 'shop', agent: 'coder', instanceKey: 'default' });
  await open().write(id, 'a.md', content);
  return id;
}

/** Puts a pipe in place of the file. */
function replaceWithPipe(path: string): void {
  rmSync(path);
  expect(Bun.spawnSync(['mkfifo', path]).success).toBe(true);
}

test('puts a changeset aside whose record is a pipe', async () => {
  const one = await withEdit('new');
  const other = await withEdit('newer');
  replaceWithPipe(paths().record(one));
  expect((await open().list()).map(({ id }) => id)).toEqual([other]);
  expect(warnings).toEqual([expect.stringContaining('is not a regular file')]);
});

test('counts a content that is a pipe as damaged', async () => {
  const id = await withEdit('new');
  const [edit] = (await open().get(id)).edits;
  replaceWithPipe(paths().content(id, edit?.after ?? ''));
  expect(await rejectionOf(open().edits(id))).toMatchObject({ code: 'E_STORE_CORRUPT' });
});
