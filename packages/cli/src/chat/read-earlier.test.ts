import { expect, test } from 'bun:test';
import { durableStore } from '@goondan/runtime/history';
import type { AgentEvent } from '@goondan/types';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { readEarlier } from './read-earlier.ts';

const place = { stateRoot: temporaryFolder(), workspaceId: 'w' };

test('a chat continues the turns of gdn, and not those of other senders', async () => {
  const journal = await durableStore(place);
  const accept = (id: string, source: AgentEvent['source']) =>
    journal.accept(
      { agentName: 'host', instanceKey: 'k' },
      { id, source, type: 'user.message', instanceKey: 'k', traceId: `trace-${id}`, createdAt: new Date(), input: id },
    );
  await accept('own', { kind: 'cli', name: 'gdn' });
  await accept('client', { kind: 'cli', name: 'control' });
  await accept('guest', { kind: 'connector', name: 'telegram' });
  await accept('caller', { kind: 'agent', name: 'boss' });
  await journal.close();
  expect(await readEarlier(place, { agent: 'host', instanceKey: 'k' })).toEqual([
    { id: 'own', traceId: 'trace-own', input: 'own' },
  ]);
  expect(await readEarlier(place, { agent: 'host', instanceKey: 'other' })).toEqual([]);
});
