import { expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { listSwarms } from './list-swarms.ts';
import { hasSocket } from './read-status.ts';

const stateRoot = temporaryFolder();

test('reads at most 16 workspaces at a time', async () => {
  for (let index = 0; index < 50; index++)
    mkdirSync(join(stateRoot, 'workspaces', `w-${index}`, 'logs'), { recursive: true });
  let [running, most] = [0, 0];
  const listed = await listSwarms(stateRoot, async ({ workspaceId }) => {
    most = Math.max(most, ++running);
    await Bun.sleep(1);
    running -= 1;
    return [workspaceId];
  });
  expect(most).toBe(16);
  expect(listed).toHaveLength(50);
  for (const { workspaceId, agents } of listed) expect(agents).toEqual([workspaceId]);
});

test('a swarm in a store may run without a socket on this machine, and one on files does not', () => {
  expect(hasSocket({ stateRoot, workspaceId: 'w-0' })).toBe(false);
  // The cast is safe: the store is not used.
  expect(hasSocket({ cluster: {} as never, workspaceId: 'w-0' })).toBe(true);
});
