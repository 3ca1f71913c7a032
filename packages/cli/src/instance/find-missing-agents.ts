import { readAgents } from '../bundle/read-agents.ts';
import type { FilePlace } from '../swarm/swarm-place.ts';
import { withStore } from './with-store.ts';

export interface MissingAgents {
  /** The names of the agents, sorted. */
  readonly agents: readonly string[];
  /** The number of their conversations. */
  readonly conversations: number;
}

/**
 * Finds the agents that have conversations on disk, but are not in the swarm of the bundle. If the bundle has errors, its
 * agents are not known, and none is missing: every command that runs the bundle prints these errors.
 */
export async function findMissingAgents({
  stateRoot,
  workspaceId,
  swarm,
  bundle,
}: FilePlace & { readonly swarm: string; readonly bundle: string }): Promise<MissingAgents> {
  const declared = await readAgents(bundle, swarm);
  if (declared === undefined) return { agents: [], conversations: 0 };
  // Damaged conversations are in the warnings of the backup already.
  const place = { stateRoot, workspaceId, warn: () => undefined };
  const known = await withStore(place, [], ({ directory }) => directory.instances());
  const missing = known.map(({ agentName }) => agentName).filter((name) => !declared.includes(name));
  return { agents: [...new Set(missing)].toSorted(), conversations: missing.length };
}
