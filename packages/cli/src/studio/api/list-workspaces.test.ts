import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import type { StudioHost } from '../studio-host.ts';
import { listAll } from './list-workspaces.ts';

const stateRoot = temporaryFolder();

test('lists workspaces without a conversation after the used ones', async () => {
  const files = ['a/swarm.json', 'b/instances/host~default/metadata.json', 'c/swarm.json'];
  for (const file of files) await Bun.write(join(stateRoot, 'workspaces', file), '{}');
  // The cast is safe: nothing else is read of the host.
  const { workspaces } = await listAll({ stateRoot, version: '1' } as StudioHost);
  expect(workspaces.map(({ workspaceId }) => workspaceId)).toEqual(['b', 'a', 'c']);
});
