import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import type { Channel } from '../../ipc/channel/channel.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { InstanceJournal } from './instance-journal.ts';
import { UndeliveredReplies } from './undelivered-replies.ts';

test('T-05 a conversation that cannot be recovered is reported as such, not as answers that could not be sent', async () => {
  const damage = new GoondanError('E_STORE_CORRUPT', 'archive.jsonl is damaged');
  const opened = { hasWork: async () => true, recover: () => Promise.reject(damage) };
  const address = { agentName: 'host', instanceKey: 'default' };
  const reports: [string, unknown][] = [];
  const replies = new UndeliveredReplies({
    // The code under test uses only these members of the journal and the channel.
    journal: { address, isNew: false, open: async () => opened } as unknown as InstanceJournal,
    channel: {} as Channel<FromAgent, ToAgent>,
    isIdle: () => true,
    report: (problem, thrown) => void reports.push([problem, thrown]),
  });
  await replies.send();
  expect(reports).toEqual([['The conversation cannot be recovered', damage]]);
});
