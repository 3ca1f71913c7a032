import type { InstanceAddress } from '@goondan/runtime';
import { toAgentAddress } from '@goondan/runtime/control';
import { withJournal } from '../instance/with-journal.ts';
import type { SwarmPlace } from '../swarm/attach-swarm.ts';
import type { EarlierInput } from './chat.ts';

/**
 * Reads the inputs of a conversation that `gdn` sent earlier, and that have no answer yet, oldest first. Inputs of other
 * senders are left out, because Ctrl-C in the chat would cancel their turns.
 */
export async function readEarlier(place: SwarmPlace, at: InstanceAddress): Promise<readonly EarlierInput[]> {
  const events = await withJournal(place, [], (journal) => journal.pending(toAgentAddress(at)));
  return events
    .filter(({ source: { kind, name } }) => kind === 'cli' && name === 'gdn')
    .map(({ id, traceId, input = '' }) => ({ id, traceId, input }));
}
