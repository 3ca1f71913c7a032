import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import type { InstanceJournal } from './instance-journal.ts';
import type { AgentChannel } from './process-host.ts';
import { UndeliveredReplies } from './undelivered-replies.ts';

const address = { agentName: 'host', instanceKey: 'default' };

test('a conversation that cannot be recovered is reported as such, not as answers that could not be sent', async () => {
  const damage = new GoondanError('E_STORE_CORRUPT', 'archive.jsonl is damaged');
  const opened = { answers: { left: () => Promise.reject(damage) } };
  const reports: [string, unknown][] = [];
  const replies = new UndeliveredReplies(
    // The casts are safe: the code under test uses only these members of the store and the channel.
    { address, isNew: false, open: async () => opened } as unknown as InstanceJournal,
    {} as AgentChannel,
    () => true,
    (problem, thrown) => void reports.push([problem, thrown]),
  );
  await replies.send();
  expect(reports).toEqual([['The conversation cannot be recovered', damage]]);
});

test('delivered replies are removed while no turn runs; when a turn starts, the rest waits for its end', async () => {
  const removed: string[] = [];
  let isIdle = true;
  const answers = {
    async acknowledge(_: unknown, eventId: string) {
      removed.push(eventId);
      isIdle = false;
    },
  };
  const replies = new UndeliveredReplies(
    // The casts are safe: the code under test uses only these members of the store and the channel.
    { address, isNew: false, open: async () => ({ answers }) } as unknown as InstanceJournal,
    {} as AgentChannel,
    () => isIdle,
    () => undefined,
  );
  for (const id of ['a', 'b']) replies.taken(id);
  await replies.acknowledge();
  expect(removed).toEqual(['a']);
  isIdle = true;
  await replies.acknowledge();
  expect(removed).toEqual(['a', 'b']);
});
