import { type AgentAddress, GoondanError, type JsonObject } from '@goondan/types';
import type { ConversationStore } from '../conversation/conversation-store.ts';

/**
 * Commits states alone, each time on top of the last commit known to this agent. A write that failed on disk may still
 * have been committed: the next attempt finds that commit in the store and continues from it. `known`: the version of
 * the commit that the states in memory come from.
 *
 * **Errors** — those of `ConversationStore.commitStates`.
 */
export function statesCommitter(
  store: Pick<ConversationStore, 'commitStates' | 'read'>,
  address: AgentAddress,
  known: () => { stateVersion: number },
): (states: Readonly<JsonObject>) => Promise<void> {
  let uncertain: Readonly<JsonObject> | undefined;
  return async (states) => {
    if (uncertain !== undefined) await lookFor(uncertain);
    uncertain = undefined;
    try {
      known().stateVersion = await store.commitStates(address, known().stateVersion, states);
    } catch (error) {
      if (!isRefusal(error)) uncertain = states;
      throw error;
    }
  };

  async function lookFor(states: Readonly<JsonObject>): Promise<void> {
    const { stateVersion, extensionState } = await store.read(address);
    const isOurs = JSON.stringify(extensionState) === JSON.stringify(states);
    if (isOurs && stateVersion === known().stateVersion + 1) known().stateVersion = stateVersion;
  }
}

/** Returns true if the store rejected the commit without writing anything. */
function isRefusal(error: unknown): boolean {
  return GoondanError.is(error) && ['E_FENCED', 'E_STORE_ORDER'].includes(error.code);
}
