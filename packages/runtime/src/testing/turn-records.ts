/** The records of turns: collected while a store in memory gets them, and put into another store, where the turn resumes. */
import type { ConversationStore, TurnRecord } from '../agent/conversation/conversation-store.ts';
import { memoryStore } from '../agent/conversation/memory-store.ts';
import { appendRest } from './append-rest.ts';
import { scriptedAgent, type ScriptedAgentOptions } from './scripted-agent.ts';

/** Wraps a store, and lists all records that it gets. */
export function recordingStore(inner: ConversationStore = memoryStore()) {
  const records: TurnRecord[] = [];
  const store = appendRest({
    ...inner,
    append: (...given) => {
      records.push(...given[3]);
      return inner.append(...given);
    },
  });
  return { store, records };
}

/** Runs a turn to its end and returns the records it wrote. */
export async function recordsOf(options: ScriptedAgentOptions, input = 'go'): Promise<TurnRecord[]> {
  const { store, records } = recordingStore();
  await (await scriptedAgent({ ...options, store })).say(input);
  return records;
}

/** Returns the records up to the first record that matches, including that record. */
export function recordsUpTo(records: readonly TurnRecord[], fits: (record: TurnRecord) => boolean): TurnRecord[] {
  const place = records.findIndex(fits);
  if (place === -1) throw new Error('no record fits');
  return records.slice(0, place + 1);
}

/** Creates a store with a turn that was interrupted after these records. */
export async function interruptedStore(
  records: readonly TurnRecord[],
  turnId = 'turn-event-1',
  address = { agentName: 'tested', instanceKey: 'default' },
): Promise<ConversationStore> {
  const store = memoryStore();
  const { epoch } = await store.open(address, turnId);
  await store.append(address, epoch, 0, records);
  return store;
}
