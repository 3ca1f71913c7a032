import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { deleteStoppedInstance } from './stopped-swarm.ts';

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
  while ((await readOwner(place)) === undefined) await Bun.sleep(0);
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

test('F-13 removes the answers for always and the open questions, so that the next conversation with this key asks again', async () => {
  await talk();
  const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn: () => undefined };
  const file = await QuestionFile.open(ports, place);
  const answer = { decision: 'approved', by: 'ann', always: 'tool', decidedAt: fakeQuestion.askedAt } as const;
  for (const instanceKey of ['default', 'other']) {
    const record = { ...fakeQuestion, id: instanceKey, key: 'k', agent: 'a', instanceKey };
    await file.put(record);
    await file.answer({ ...record, answer });
    await file.put({ ...record, id: `open-${instanceKey}` });
  }
  await file.close();
  await deleteStoppedInstance({ ...place, swarm: 'mine' }, at);
  const left = await QuestionFile.open(ports, place);
  expect((await left.list()).map(({ id }) => id)).toEqual(['other', 'open-other']);
  await left.close();
});
