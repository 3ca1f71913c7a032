/** The conversation as a turn found it, for that turn alone. Nothing of it is written anywhere. */
import type { JsonValue, Message } from '@goondan/types';
import type { ReplaySource } from '../../trace/replay.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';

export interface ReplayStore extends ConversationStore {
  /** What the turn left; undefined until it commits. */
  readonly stateAfter: Readonly<Record<string, JsonValue>> | undefined;
}

export function replayStore({ messages: stored, extensionState }: ReplaySource): ReplayStore {
  // Written by the journal, and read again by it.
  const messages = stored.map((message): Message => ({ ...message, createdAt: new Date(message.createdAt) }));
  let stateAfter: Readonly<Record<string, JsonValue>> | undefined;
  return {
    get stateAfter() {
      return stateAfter;
    },
    open: async () => ({
      epoch: 1,
      version: 1,
      stateVersion: 1,
      loadBase: async () => messages,
      log: [],
      extensionState,
    }),
    append: async () => undefined,
    async commit(_instance, _epoch, _turnId, _delta, state) {
      stateAfter = { ...state };
    },
    // A state that is set after the turn is not part of it.
    commitStates: async (_instance, stateVersion) => stateVersion,
    read: async () => ({ version: 1, stateVersion: 1, messages, extensionState }),
  };
}
