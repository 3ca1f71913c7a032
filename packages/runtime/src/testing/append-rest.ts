/** Wraps a store for tests that watch `append`: the last records of a turn are appended just before its commit. */
import type { ConversationStore } from '../agent/conversation/conversation-store.ts';

export function appendRest(store: ConversationStore): ConversationStore {
  return {
    ...store,
    async commit(instance, epoch, turnId, delta, extensionState, result, rest) {
      if (rest !== undefined && rest.records.length > 0) {
        await store.append(instance, epoch, rest.at, rest.records);
      }
      await store.commit(instance, epoch, turnId, delta, extensionState, result);
    },
  };
}
