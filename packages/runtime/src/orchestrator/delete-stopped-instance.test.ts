import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durableStore } from '../workspace/journal/durable-store.ts';
import { readOwner } from '../testing/read-owner.ts';
import { ownWorkspace } from '../workspace/swarms/own-workspace.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { runSimpleTurn, simpleEvent } from '../workspace/simulation/simulated-turn.ts';
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
