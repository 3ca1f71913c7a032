/**
 * The secrets of every plan that this run has read, including refused plans. A process outlives a plan and loads parts
 * of a plan that is not in force yet, so both may appear in its output. A secret stays masked until the run ends.
 */
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { ConnectionPlan, SwarmPlan } from '../../config/swarm-plan.ts';
import { type GrowingMask, growingMask, type Mask } from '../../log/mask-secrets.ts';

/** The maximum number of earlier secrets that a process is told, because its first message must contain them. */
export const MOST_EARLIER = 1_000;

export class KnownSecrets {
  /** The secrets of each agent and connection by identity, the newest last. */
  readonly #secrets = new Map<string, Set<string>>();
  readonly #masks = new Map<string, GrowingMask>();
  readonly #mask = growingMask([]);

  /** Masks the secrets of all agents and connections, for data that goes from one agent or connection to another. */
  get mask(): Mask {
    return this.#mask;
  }

  /** Returns a function that masks the secrets of this agent, also those that it gets later. */
  maskFor(agentName: string): Mask {
    return this.#maskOf(`Agent/${agentName}`);
  }

  /** Masks the secrets of this plan from now on. Call it before anything of the plan runs. */
  learn({ agents, connections = [] }: SwarmPlan): void {
    for (const agent of agents) this.#add(...ownedByAgent(agent));
    for (const connection of connections) this.#add(...ownedByConnection(connection));
  }

  /** Returns the secrets that the agent has in other plans only, at most the newest `MOST_EARLIER`. */
  earlierOfAgent(agent: DeclaredAgent): readonly string[] {
    return this.#earlier(...ownedByAgent(agent));
  }

  /** Returns the connection whose process also masks the secrets that it has in other plans only. */
  addEarlier(connection: ConnectionPlan): ConnectionPlan {
    const earlier = this.#earlier(...ownedByConnection(connection));
    return earlier.length === 0 ? connection : { ...connection, masked: [...(connection.masked ?? []), ...earlier] };
  }

  #earlier(identity: string, secrets: readonly string[]): readonly string[] {
    const now = new Set(secrets);
    return [...(this.#secrets.get(identity) ?? [])].filter((secret) => !now.has(secret)).slice(-MOST_EARLIER);
  }

  #add(identity: string, secrets: readonly string[]): void {
    if (secrets.length === 0) return;
    const known = this.#secrets.get(identity) ?? new Set();
    this.#secrets.set(identity, known);
    for (const secret of secrets) {
      // A secret that is used again is the newest one.
      known.delete(secret);
      known.add(secret);
    }
    this.#maskOf(identity).add(secrets);
    this.#mask.add(secrets);
  }

  #maskOf(identity: string): GrowingMask {
    const mask = this.#masks.get(identity) ?? growingMask([]);
    this.#masks.set(identity, mask);
    return mask;
  }
}

function ownedByAgent({ agentName, secrets = [] }: DeclaredAgent): [identity: string, secrets: readonly string[]] {
  return [`Agent/${agentName}`, secrets];
}

function ownedByConnection({
  connection,
  secrets,
  masked = [],
}: ConnectionPlan): [identity: string, secrets: readonly string[]] {
  return [`Connection/${connection}`, [...Object.values(secrets), ...masked]];
}
