import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { simpleEvent } from '../../workspace/simulation/simulated-turn.ts';
import { backUpFiles, readBackup, restoreFiles } from './backup-files.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-restore-')));
afterAll(() => rmSync(root, { recursive: true }));

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
