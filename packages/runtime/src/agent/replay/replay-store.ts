/** The conversation as it was when the turn began, for that turn alone. Nothing is written to disk. */
import type { JsonValue, Message } from '@goondan/types';
import type { ReplaySource } from '../../trace/replay.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';

export interface ReplayStore extends ConversationStore {
  /** The states after the turn; undefined until it commits. */
  readonly stateAfter: Readonly<Record<string, JsonValue>> | undefined;
}

export function replayStore({ messages: stored, extensionState }: ReplaySource): ReplayStore {
  // The journal wrote and read these messages.
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
