/** Finds out why no line of the log is from an agent: the agent is unknown, or has not logged anything. */
import type { Swarm } from '@goondan/runtime';
import { readAgents } from '../bundle/read-agents.ts';
import { openReader, type SwarmPlace } from '../swarm/swarm-place.ts';
import { unknownAgent } from '../swarm/unknown-agent.ts';

export interface AskedAgent {
  readonly agent: string;
  readonly place: SwarmPlace & { readonly swarm: string };
  readonly folder: string;
  /** The swarm, if it is known to run. */
  readonly running: Swarm | undefined;
}

/**
 * Does nothing if the agent is in the log, in the running swarm or in the bundle, or if neither of the last two can be
 * read. **Errors** — `E_AGENT_UNKNOWN`, `E_STORE_READ`.
 */
export async function checkAgent({ agent, place, folder, running }: AskedAgent): Promise<void> {
  const declared = running === undefined ? await readAgents(folder, place.swarm) : (await running.status()).agents;
  if (declared === undefined || declared.includes(agent)) return;
  // The log may have lines of an agent that was removed from the bundle.
  const logged = await (await openReader(place)).logs.read({ last: 1, agent });
  if (logged.length === 0) throw unknownAgent(agent, declared);
}
