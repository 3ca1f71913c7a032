import { expect, test } from 'bun:test';
import type { Swarm } from '@goondan/runtime';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { checkAgent } from './check-agent.ts';

const folder = temporaryFolder();

test('an agent that has not logged anything is known if the running swarm has it', async () => {
  // The cast is safe: the function uses nothing else.
  const running = { status: async () => ({ agents: ['host'] }) } as unknown as Swarm;
  const asked = { place: { stateRoot: folder, workspaceId: 'w', swarm: 'default' }, folder, running };
  await checkAgent({ ...asked, agent: 'host' });
  expect(checkAgent({ ...asked, agent: 'other' })).rejects.toMatchObject({ code: 'E_AGENT_UNKNOWN' });
});
