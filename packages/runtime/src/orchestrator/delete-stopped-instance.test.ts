import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { systemClock } from '../ports/clock.ts';
import { systemFs } from '../ports/fs.ts';
import { systemProcesses } from '../ports/processes.ts';
import { fakeQuestion } from '../testing/fake-control.ts';
import { durableStore } from '../workspace/journal/durable-store.ts';
import { readOwner } from '../testing/read-owner.ts';
import { ownWorkspace } from '../workspace/swarms/own-workspace.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { runSimpleTurn, simpleEvent } from '../workspace/simulation/simulated-turn.ts';
import { QuestionFile } from '../workspace/questions/question-file.ts';
import { openAdmin } from '../store/files/open-admin.ts';
import { nodeStoreOf } from '../store/files/open-node-store.ts';
import { deleteStoppedInstance } from './stopped-swarm.ts';
import { until } from '../../../../test/until.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-delete-'));
const place = { stateRoot, workspaceId: 'test', warn: () => undefined };
const at = { agentName: 'a', instanceKey: 'default' };
afterEach(() => rmSync(stateRoot, { recursive: true, force: true }));

async function talk() {
  const journal = await durableStore(place);
  await runSimpleTurn(journal, at, 'one');
  await journal.close();
  return journal;
}

test('is rejected while an orchestrator runs the workspace, and then changes nothing', async () => {
  const journal = await talk();
  const owner = await ownWorkspace(place, { swarm: 'mine', runTag: 'none' });
  expect(await rejectionOf(deleteStoppedInstance({ ...place, swarm: 'mine' }, at))).toMatchObject({
    code: 'E_SWARM_RUNNING',
  });
  expect((await journal.read(at)).messages).toHaveLength(2);
  await owner.release();
});

test('owns the workspace only while it works, however it ends', async () => {
  const journal = await talk();
  const deleted = deleteStoppedInstance({ ...place, swarm: 'mine' }, at);
  await until(async () => (await readOwner(place)) !== undefined);
  expect(await rejectionOf(ownWorkspace(place, { swarm: 'other', runTag: 'none' }))).toMatchObject({
    code: 'E_SWARM_RUNNING',
  });
  expect(await deleted).toEqual({ inputs: 0 });
  expect(await journal.has(at)).toBe(false);
  expect(await readOwner(place)).toBeUndefined();
  await journal.accept(at, simpleEvent('two'));
  await journal.close();
  expect(await rejectionOf(deleteStoppedInstance({ ...place, swarm: 'mine' }, at))).toMatchObject({
    code: 'E_INSTANCE_PENDING',
  });
  expect(await readOwner(place)).toBeUndefined();
  expect((await journal.pending(at)).map(({ id }) => id)).toEqual(['two']);
});

const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn: () => undefined };

/** Stores a grant and an open question in this conversation, and in another one. */
async function ask() {
  const file = await QuestionFile.open(ports, place);
  const answer = { decision: 'approved', by: 'ann', always: 'tool', decidedAt: fakeQuestion.askedAt } as const;
  for (const instanceKey of ['default', 'other']) {
    const record = { ...fakeQuestion, id: instanceKey, key: 'k', agent: 'a', instanceKey };
    await file.put(record);
    await file.answer({ ...record, answer });
    await file.put({ ...record, id: `open-${instanceKey}` });
  }
  await file.close();
}

async function stored() {
  const file = await QuestionFile.open(ports, place);
  const ids = (await file.list()).map(({ id }) => id);
  await file.close();
  return ids;
}

test('removes the answers for always and the open questions, so that the next conversation with this key asks again', async () => {
  await talk();
  await ask();
  await deleteStoppedInstance({ ...place, swarm: 'mine' }, at);
  expect(await stored()).toEqual(['other', 'open-other']);
});

test('removes the answers for always and the open questions in the store of a running swarm, too', async () => {
  await talk();
  await ask();
  const journal = await durableStore(place);
  await journal.openInbox();
  const questions = await QuestionFile.open(ports, place);
  // The casts are safe: a deletion uses neither of them.
  const store = nodeStoreOf(place, { journal, questions, counters: {} as never }, {} as never);
  await store.admin.delete(at);
  expect((await questions.list()).map(({ id }) => id)).toEqual(['other', 'open-other']);
  await store.close();
});

test('removes the answers for always and the open questions of a conversation without a turn', async () => {
  const journal = await durableStore(place);
  await journal.accept(at, simpleEvent('one'));
  await journal.close();
  await ask();
  await deleteStoppedInstance({ ...place, swarm: 'mine' }, at, { force: true });
  expect(await stored()).toEqual(['other', 'open-other']);
});

test('keeps the answers for always and the open questions if somebody else owns the workspace meanwhile', async () => {
  await talk();
  await ask();
  let isLost = false;
  const fs: typeof systemFs = {
    ...systemFs,
    stat(path) {
      if (path.endsWith('approvals.jsonl')) isLost = true;
      return systemFs.stat(path);
    },
  };
  const fence = () => {
    if (isLost) throw new GoondanError('E_FENCED', 'Somebody else owns it.');
  };
  const { admin, close } = await openAdmin({ ...place, fs, fence });
  expect(await rejectionOf(admin.delete(at))).toMatchObject({ code: 'E_FENCED' });
  await close();
  expect(await stored()).toEqual(['default', 'open-default', 'other', 'open-other']);
});

test('keeps the answers for always and the open questions if it is refused', async () => {
  const journal = await talk();
  await journal.accept(at, simpleEvent('two'));
  await journal.close();
  await ask();
  const refused = await rejectionOf(deleteStoppedInstance({ ...place, swarm: 'mine' }, at));
  expect(refused).toMatchObject({ code: 'E_INSTANCE_PENDING' });
  expect(await stored()).toEqual(['default', 'open-default', 'other', 'open-other']);
});

test('leaves no question to answer when it ends at the moment of the deletion', async () => {
  await talk();
  await ask();
  const fs: typeof systemFs = {
    ...systemFs,
    async rename(from, to) {
      if (to.includes('.deleted-')) throw Object.assign(new Error('The machine is off.'), { code: 'EIO' });
      await systemFs.rename(from, to);
    },
  };
  const { admin, close } = await openAdmin({ ...place, fs });
  expect(await rejectionOf(admin.delete(at))).toMatchObject({ code: 'E_STORE_WRITE' });
  await close();
  expect(await stored()).toEqual(['other', 'open-other']);
});
