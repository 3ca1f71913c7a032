import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { fileBlobs } from './file-blobs.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'linked-blobs-'));
afterAll(() => rmSync(stateRoot, { recursive: true, force: true }));

const digest = 'a1'.repeat(32);
const names = [
  'note.txt',
  '.note',
  digest,
  `${digest}.removed`,
  `${digest}.new`,
  `${digest}.new.${crypto.randomUUID()}`,
];

test.each([
  ['blobs', 'data'],
  ['blobs/data', ''],
  ['blobs/uses', 'conformance~one'],
  ['blobs/uses/conformance~one', ''],
])('Y-02 a sweep removes nothing behind a link at %s', async (linked, inside) => {
  const location = { stateRoot, workspaceId: linked.replaceAll('/', '-') };
  const link = join(workspaceFolder(stateRoot, location.workspaceId), linked);
  const others = join(stateRoot, `others-${location.workspaceId}`);
  mkdirSync(join(others, inside), { recursive: true });
  for (const name of names) writeFileSync(join(others, inside, name), 'mine');
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(others, link);
  await fileBlobs(location).sweep();
  expect(readdirSync(join(others, inside)).toSorted()).toEqual(names.toSorted());
});
