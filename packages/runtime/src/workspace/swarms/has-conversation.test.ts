import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '@goondan/types';
import { durableStore } from '../journal/durable-store.ts';
import { runSimpleTurn } from '../simulation/simulated-turn.ts';
import { hasConversation } from './has-conversation.ts';
import { instancePaths, workspaceFolder } from '../layout/instance-paths.ts';

const location = { stateRoot: mkdtempSync(join(tmpdir(), 'has-conversation-')), workspaceId: 'w' };
const address = { agentName: 'a', instanceKey: 'room/1' };
const event: AgentEvent = {
  id: 'e',
  type: 'user.message',
  instanceKey: address.instanceKey,
  source: { kind: 'cli', name: 'test' },
  traceId: 't',
  createdAt: new Date(0),
};
afterAll(() => rmSync(location.stateRoot, { recursive: true }));

test('a conversation exists from its first opening on; pending input alone is not one', async () => {
  const journal = await durableStore(location);
  expect(hasConversation(location, address)).toBe(false);
  await journal.accept(address, event);
  expect(hasConversation(location, address)).toBe(false);
  await journal.open(address, 'turn-e');
  expect(hasConversation(location, address)).toBe(true);
  expect(hasConversation(location, { ...address, instanceKey: 'room/2' })).toBe(false);
  await runSimpleTurn(journal, address, 'e');
  await journal.close();
  // A damaged conversation does not count as a new one. Its reader reports the damage.
  rmSync(instancePaths(workspaceFolder(location.stateRoot, location.workspaceId), address).metadata);
  expect(hasConversation(location, address)).toBe(true);
});
