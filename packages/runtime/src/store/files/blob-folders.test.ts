import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { fileBlobs } from './file-blobs.ts';

const stateRoot = temporaryFolder();

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

test('Y-02 a sweep leaves folders in the place of files, and removes the files', async () => {
  const location = { stateRoot, workspaceId: 'folders' };
  const blobs = fileBlobs(location);
  const root = join(workspaceFolder(stateRoot, location.workspaceId), 'blobs');
  const folders = [digest, `${'b2'.repeat(32)}.removed`, `.${crypto.randomUUID()}`];
  const use = 'c3'.repeat(32);
  for (const name of folders) mkdirSync(join(root, 'data', name), { recursive: true });
  mkdirSync(join(root, 'uses/conformance~one', use), { recursive: true });
  await blobs.put({ upload: 'left' }, Buffer.from('cat'));
  for (let starts = 1; starts <= 2; starts += 1) await blobs.sweep();
  expect(readdirSync(join(root, 'data')).toSorted()).toEqual(folders.toSorted());
  expect(readdirSync(join(root, 'uses/conformance~one'))).toEqual([use]);
});

test('Y-02 a folder in the place of bytes is damaged, and the others are listed too', async () => {
  const location = { stateRoot, workspaceId: 'folder' };
  const blobs = fileBlobs(location);
  const owner = { agentName: 'conformance', instanceKey: 'one' };
  const workspace = workspaceFolder(stateRoot, location.workspaceId);
  mkdirSync(join(workspace, 'instances/conformance~one'), { recursive: true });
  const digests = [await blobs.put(owner, Buffer.from('cat')), await blobs.put(owner, Buffer.from('dog'))];
  await blobs.named(owner, digests);
  for (const each of digests) rmSync(join(workspace, 'blobs/data', each));
  mkdirSync(join(workspace, 'blobs/data', digests[0] ?? ''));
  const lost = await blobs.findLost();
  expect(digests.map((each) => lost.find((file) => file.digest === each)?.problem)).toEqual(['damaged', 'missing']);
});
