/** The seams that the journal of a workspace implements. */
import type { StorePlace } from '../../workspace/layout/instance-paths.ts';
import type { Journal } from '../../workspace/journal/journal.ts';
import { answerOf, decodeReply } from '../../workspace/records/reply.ts';
import { findLastUsed } from '../../workspace/swarms/find-last-used.ts';
import { hasConversation } from '../../workspace/swarms/has-conversation.ts';
import { instancesChangedAt, isUsed } from '../../workspace/swarms/list-workspaces.ts';
import { readSwarmRecord } from '../../workspace/swarms/swarm-record.ts';
import type { Answers } from '../answers.ts';
import type { Inbox } from '../inbox.ts';
import type { Directory } from '../readers.ts';

/** The key of an answer in the outbox is the id of its turn: this prefix and the event's id. */
const PREFIX = 'turn-';

/** The only node accepts all input itself, so nobody has to be woken. */
export function inboxOf(
  journal: Pick<Journal, 'accept' | 'checkRoom' | 'cancel' | 'pendingEntries' | 'handled'>,
): Inbox {
  return {
    checkRoom: (instance, event) => journal.checkRoom(instance, event),
    accept: (instance, event) => journal.accept(instance, event),
    cancel: (instance, eventId, reason) => journal.cancel(instance, eventId, reason),
    pendingEntries: (instance) => journal.pendingEntries(instance),
    handled: (instance, eventId, isTaken) => journal.handled(instance, eventId, isTaken),
    onWake: () => () => undefined,
  };
}

export function answersOf(journal: Pick<Journal, 'hasUnfinished' | 'recover' | 'outbox'>): Answers {
  return {
    async left(instance) {
      if (!(await journal.hasUnfinished(instance))) return [];
      // The previous process may have died before its last answer was in the outbox. Recovery adds that answer.
      await journal.recover(instance);
      const entries = await journal.outbox.pending(instance);
      return entries.flatMap(({ key, value }) => {
        const reply = key.startsWith(PREFIX) ? decodeReply(value) : undefined;
        return reply === undefined ? [] : [answerOf(key.slice(PREFIX.length), reply)];
      });
    },
    acknowledge: (instance, eventId) => journal.outbox.acknowledge(instance, PREFIX + eventId),
  };
}

/** `open` returns the journal; it is called only for questions that need it. */
export function directoryOf(
  place: StorePlace,
  open: () => Promise<Pick<Journal, 'instances' | 'summary' | 'has'>>,
): Directory {
  return {
    exists: async () => isUsed(place),
    instances: async () => (await open()).instances(),
    summary: async (instance) => (await open()).summary(instance),
    has: async (instance) => (await open()).has(instance),
    isNew: (instance) => !hasConversation(place, instance),
    lastUsed: async (instances) => findLastUsed(place, instances),
    changedAt: async () => instancesChangedAt(place.stateRoot, place.workspaceId),
    swarm: async () => readSwarmRecord(place),
    async describe(agentName) {
      const { readDescription } = await import('../../workspace/swarms/agent-descriptions.ts');
      return readDescription(place, agentName);
    },
  };
}
