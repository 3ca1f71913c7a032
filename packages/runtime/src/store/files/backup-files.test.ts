import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileReferenceOf } from '@goondan/types';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { simpleEvent } from '../../workspace/simulation/simulated-turn.ts';
import { backUpFiles, readBackup, restoreFiles } from './backup-files.ts';
import { fileBlobs } from './file-blobs.ts';

const root = temporaryFolder();

test('a restore is refused while the inbox of the workspace is damaged, because it may have accepted input', async () => {
  const [from, to] = ['from', 'to'].map((name) => ({ stateRoot: join(root, name), workspaceId: 'w' })) as [
    Place,
    Place,
  ];
  for (const place of [from, to]) {
    const journal = await durableStore(place);
    await journal.accept({ agentName: 'coder', instanceKey: 'one' }, simpleEvent('e1'));
    await journal.close();
  }
  const folder = join(root, 'backup');
  await backUpFiles(from, { folder, version: '1', swarm: 'default' });
  const inbox = join(to.stateRoot, 'workspaces/w/inbox/inbox.000001.jsonl');
  // Nobody can tell any more that the input belongs to a conversation.
  writeFileSync(inbox, readFileSync(inbox, 'latin1').replaceAll(/coder/g, 'CODER'), 'latin1');
  const manifest = await readBackup(folder);
  const run = { swarm: 'default', folder: root };
  expect(await rejectionOf(restoreFiles(manifest, { folder, ...to }, run))).toMatchObject({
    code: 'E_RESTORE_TARGET',
    message: expect.stringContaining(`${inbox} is damaged`),
  });
  expect(readdirSync(join(to.stateRoot, 'workspaces'))).toEqual(['w']);
});

test('Y-02 a backup and a restore name the files that conversations have lost, also if the backup does not say so', async () => {
  const [from, to] = ['lost', 'found'].map((name) => ({ stateRoot: join(root, name), workspaceId: 'w' })) as [
    Place,
    Place,
  ];
  const at = { agentName: 'coder', instanceKey: 'one' };
  const journal = await durableStore(from);
  const blobs = fileBlobs(from);
  const digests: string[] = [];
  for (const word of ['cat', 'dog', 'cow']) digests.push(await blobs.put(at, Buffer.from(word)));
  const content = digests.map((digest) => ({
    type: 'file' as const,
    data: fileReferenceOf(digest),
    mediaType: 'text/plain',
  }));
  await journal.accept(at, { ...simpleEvent('e1'), content });
  await journal.close();
  const [cat = '', dog = ''] = digests;
  const pathIn = ({ stateRoot }: Place, digest: string) => join(stateRoot, 'workspaces/w/blobs/data', digest);
  rmSync(pathIn(from, cat));
  writeFileSync(pathIn(from, dog), 'DOG');
  const problemsAt = (place: Place) =>
    [
      `${pathIn(place, cat)} is missing; the conversation coder~one names it`,
      `${pathIn(place, dog)} is damaged: its bytes do not have the SHA-256 ${dog}; the conversation coder~one names it`,
    ].toSorted();
  const folder = join(root, 'lost-backup');
  const { problems } = await backUpFiles(from, { folder, version: '1', swarm: 'default' });
  expect(problems.toSorted()).toEqual(problemsAt(from));
  const run = { swarm: 'default', folder: root };
  const manifest = await readBackup(folder);
  const told = await restoreFiles(manifest, { folder, ...to }, run);
  expect(told.problems.toSorted()).toEqual(problemsAt(from));
  rmSync(to.stateRoot, { recursive: true });
  const untold = await restoreFiles({ ...manifest, problems: [] }, { folder, ...to }, run);
  expect(untold.problems.toSorted()).toEqual(problemsAt(to));
});

test('a backup into the state root is refused, also through a link', async () => {
  const place = { stateRoot: join(root, 'inside'), workspaceId: 'w' };
  const journal = await durableStore(place);
  await journal.accept({ agentName: 'coder', instanceKey: 'one' }, simpleEvent('e1'));
  await journal.close();
  symlinkSync(place.stateRoot, join(root, 'link'));
  for (const name of ['inside', 'inside/workspaces/backup', 'inside/workspaces/w/logs/backup', 'link/backup']) {
    const done = backUpFiles(place, { folder: join(root, name), version: '1', swarm: 'default' });
    const message = `${join(root, name.replace('link', 'inside'))} is in the state root.`;
    expect(await rejectionOf(done)).toMatchObject({ code: 'E_BACKUP_FOLDER', message });
  }
  expect(readdirSync(join(place.stateRoot, 'workspaces'))).toEqual(['w']);
  await backUpFiles(place, { folder: join(root, 'inside-not'), version: '1', swarm: 'default' });
});

interface Place {
  readonly stateRoot: string;
  readonly workspaceId: string;
}
