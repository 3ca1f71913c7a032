import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUpFiles } from '../store/files/backup-files.ts';
import { systemClock } from '../ports/clock.ts';
import { systemFs } from '../ports/fs.ts';
import { systemProcesses } from '../ports/processes.ts';
import { fakeQuestion } from '../testing/fake-control.ts';
import { QuestionFile } from '../workspace/questions/question-file.ts';
import { durableStore } from '../workspace/journal/durable-store.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { simpleEvent } from '../workspace/simulation/simulated-turn.ts';
import { restoreStoppedSwarm } from './stopped-swarm.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-restore-')));
afterAll(() => rmSync(root, { recursive: true }));

test('a restore whose workspace gets another owner meanwhile is refused, and the workspace stays as it is', async () => {
  const from = { stateRoot: join(root, 'from'), workspaceId: 'w' };
  const journal = await durableStore(from);
  await journal.accept({ agentName: 'coder', instanceKey: 'one' }, simpleEvent('e1'));
  await journal.close();
  const folder = join(root, 'backup');
  await backUpFiles(from, { folder, version: '1', swarm: 'default' });
  const to = { stateRoot: join(root, 'to'), workspaceId: 'w', swarm: 'default', bundle: root };
  const workspaces = join(to.stateRoot, 'workspaces');
  mkdirSync(join(workspaces, 'w'), { recursive: true });
  writeFileSync(join(workspaces, 'w/kept'), '');
  // Without its lock, another process can own the workspace.
  const onProgress = () => rmSync(join(workspaces, 'w/workspace.lock'), { force: true });
  expect(await rejectionOf(restoreStoppedSwarm(to, { folder, onProgress }))).toMatchObject({ code: 'E_FENCED' });
  expect(readdirSync(workspaces)).toEqual(['w']);
  expect(existsSync(join(workspaces, 'w/kept'))).toBe(true);
  expect(await restoreStoppedSwarm(to, { folder })).toMatchObject({ problems: [] });
  expect(existsSync(join(workspaces, 'w/kept'))).toBe(false);
});

test('a restore brings back no answer for always, because it may be revoked; questions and other answers come back', async () => {
  const from = { stateRoot: join(root, 'asked'), workspaceId: 'w' };
  const journal = await durableStore(from);
  await journal.accept({ agentName: 'coder', instanceKey: 'one' }, simpleEvent('e1'));
  await journal.close();
  const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn: () => undefined };
  const file = await QuestionFile.open(ports, from);
  const once = { decision: 'approved', by: 'ann', decidedAt: fakeQuestion.askedAt } as const;
  for (const [id, answer] of [
    ['tool', { ...once, always: 'tool' }],
    ['arguments', { ...once, always: 'arguments' }],
    ['once', once],
  ] as const) {
    await file.put({ ...fakeQuestion, id, key: id });
    await file.answer({ ...fakeQuestion, id, key: id, answer });
  }
  await file.put({ ...fakeQuestion, id: 'open', key: 'k' });
  await file.close();
  const folder = join(root, 'backup-asked');
  await backUpFiles(from, { folder, version: '1', swarm: 'default' });
  const to = { stateRoot: join(root, 'again'), workspaceId: 'w', swarm: 'default', bundle: root };
  expect(await restoreStoppedSwarm(to, { folder })).toMatchObject({ droppedGrants: 2, problems: [] });
  const restored = await QuestionFile.open(ports, to);
  expect((await restored.list()).map(({ id }) => id)).toEqual(['once', 'open']);
  await restored.close();
  // The backup does not change.
  const again = { ...to, stateRoot: join(root, 'third') };
  expect(await restoreStoppedSwarm(again, { folder })).toMatchObject({ droppedGrants: 2 });
});
