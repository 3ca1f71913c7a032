/** Copies the states of extensions for a trial, so that a part on trial sees the states that it will have. */
import type { AgentAddress, JsonValue } from '@goondan/types';
import type { Journal } from '../../workspace/journal/journal.ts';
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import { findLastUsed } from '../../workspace/swarms/find-last-used.ts';
import type { Instances } from '../instances/instances.ts';

export interface CopyStatesDeps {
  readonly instances: Pick<Instances, 'known' | 'find'>;
  readonly journal: Pick<Journal, 'read'>;
  readonly store: JournalLocation;
}

/** The number of sleeping instances among which the last used one is searched. */
const MOST_SEARCHED = 1_000;

/**
 * Returns the committed states of one instance of the agent: one with a process, or else the one that was used last.
 * Takes no lock. Returns no states if the agent has no instance, or its instance cannot be read.
 */
export async function copyStates(
  agentName: string,
  { instances, journal, store }: CopyStatesDeps,
): Promise<Readonly<Record<string, JsonValue>>> {
  const own = [...instances.known()].filter((address) => address.agentName === agentName);
  const isAwake = (address: AgentAddress) => instances.find(address)?.hasProcess === true;
  const chosen = own.find(isAwake) ?? findLastUsed(store, own.slice(-MOST_SEARCHED));
  if (chosen === undefined) return {};
  try {
    return (await journal.read(chosen)).extensionState;
  } catch {
    // A damaged conversation is reported when it is used. It must not prevent the reload.
    return {};
  }
}
