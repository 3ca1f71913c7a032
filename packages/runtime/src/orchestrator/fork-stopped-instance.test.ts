import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durableStore } from '../workspace/journal/durable-store.ts';
import { readOwner } from '../testing/read-owner.ts';
import { ownWorkspace } from '../workspace/swarms/own-workspace.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { runSimpleTurn } from '../workspace/simulation/simulated-turn.ts';
import { forkStoppedInstance } from './stopped-swarm.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-fork-'));
const place = { stateRoot, workspaceId: 'test', warn: () => undefined };
const stopped = { ...place, swarm: 'mine' };
const at = { agentName: 'a', instanceKey: 'default' };
const copy = { agentName: 'a', instanceKey: 'a/copy' };
afterEach(() => rmSync(stateRoot, { recursive: true, force: true }));

test('on a real disk: owns the workspace meanwhile, and is rejected while another process does', async () => {
  const journal = await durableStore(place);
  for (const id of ['one', 'two']) await runSimpleTurn(journal, at, id);
  await journal.close();
  const owner = await ownWorkspace(place, { swarm: 'mine', runTag: 'none' });
  expect(await rejectionOf(forkStoppedInstance(stopped, at, { as: 'a/copy' }))).toMatchObject({
    code: 'E_SWARM_RUNNING',
  });
  await owner.release();
  expect(await rejectionOf(forkStoppedInstance(stopped, at, { as: '' }))).toMatchObject({ code: 'E_INSTANCE_KEY' });
  expect(await forkStoppedInstance(stopped, at, { as: 'a/copy', at: 3 })).toMatchObject({ seq: 3, messages: 3 });
  expect(await rejectionOf(forkStoppedInstance(stopped, at, { as: 'a/copy' }))).toMatchObject({
    code: 'E_INSTANCE_EXISTS',
  });
  expect(await readOwner(place)).toBeUndefined();
  expect((await journal.read(copy)).messages.map(({ id }) => id)).toEqual(['input-one', 'answer-one', 'input-two']);
  await runSimpleTurn(journal, copy, 'three');
  await journal.close();
  expect(await journal.read(copy)).toMatchObject({ version: 2, messages: { length: 5 } });
});
