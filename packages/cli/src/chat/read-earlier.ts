import type { InstanceAddress } from '@goondan/runtime';
import { toAgentAddress } from '@goondan/runtime/control';
import { withStore } from '../instance/with-store.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';

/** An input that `gdn` sent to this conversation before the chat opened it, and that has no answer yet. */
export interface EarlierInput {
  readonly id: string;
  readonly traceId: string;
  readonly input: string;
}

/**
 * Reads the inputs of a conversation that `gdn` sent earlier, and that have no answer yet, oldest first. Inputs of other
 * senders are left out, because Ctrl-C in the chat would cancel their turns.
 */
export async function readEarlier(place: SwarmPlace, at: InstanceAddress): Promise<readonly EarlierInput[]> {
  const entries = await withStore(place, [], ({ inbox }) => inbox.pendingEntries(toAgentAddress(at)));
  return entries
    .filter(({ event: { source } }) => source.kind === 'cli' && source.name === 'gdn')
    .map(({ event: { id, traceId, input = '' } }) => ({ id, traceId, input }));
}
