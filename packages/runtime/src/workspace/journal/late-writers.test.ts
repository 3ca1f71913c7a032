import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';
import { openAgentStore } from '../../store/files/open-agent-store.ts';
import { durableStore } from './durable-store.ts';

test('an agent process that opens its conversation late does not bring back a deleted state root', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'goondan-late-'));
  const stateRoot = join(folder, 'state');
  expect(await rejectionOf(openAgentStore({ stateRoot, workspaceId: 'w' }))).toMatchObject({ code: 'E_STORE_WRITE' });
  expect(existsSync(stateRoot)).toBe(false);
  rmSync(folder, { recursive: true });
});

test('late traces and runtime events do not bring back a deleted state root', async () => {
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-late-'));
  const coder = { agentName: 'coder', instanceKey: 'default' };
  const journal = await durableStore({ stateRoot, workspaceId: 'w', warn: () => undefined });
  await runSimpleTurn(journal, coder, 'a');
  rmSync(stateRoot, { recursive: true });
  expect(await rejectionOf(journal.openTraces(coder))).toMatchObject({ code: 'E_STORE_WRITE' });
  expect(await rejectionOf(journal.openRuntimeEvents(coder))).toMatchObject({ code: 'E_STORE_WRITE' });
  expect(existsSync(stateRoot)).toBe(false);
});
