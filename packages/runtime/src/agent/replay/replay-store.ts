/** A store with the conversation as it was when the turn began, for that turn only. Nothing is written to disk. */
import type { JsonValue } from '@goondan/types';
import { reviveMessage } from '../../messages/message-text.ts';
import type { ReplaySource } from '../../trace/replay.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';

/** Makes the store. `stateAfter` has the states after the turn; it is empty until the turn commits. */
export function replayStore({
  messages: stored,
  extensionState,
}: ReplaySource): ConversationStore & Pick<ReplaySource, 'stateAfter'> {
  // The journal wrote and read these messages, so they need no check.
  const messages = stored.map(reviveMessage);
  let stateAfter: Readonly<Record<string, JsonValue>> = {};
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
      isHandled: () => false,
    }),
    append: async () => undefined,
    async commit(_instance, _epoch, _turnId, _delta, state) {
      stateAfter = { ...state };
    },
    // A state that is set after the turn is not part of the replay.
    commitStates: async (_instance, stateVersion) => stateVersion,
    read: async () => ({ version: 1, stateVersion: 1, messages, extensionState }),
  };
}
