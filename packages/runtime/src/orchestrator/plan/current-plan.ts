/**
 * The current plan of a swarm, and the settings derived from it. A reload replaces the plan as a whole, so read `value`
 * each time and do not keep parts of it.
 */
import type { AgentCard, ConnectionCard } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { partsDigest } from '../../config/parts-digest.ts';
import { defined } from '../../json/defined.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { defaultPolicy, type TurnPolicy } from '../../config/turn-policy.ts';
import { type PlannedLimit, readLimits } from '../../counters/limit-counter.ts';
import { type FileLimits, MOST_FILES_FULL } from '../../files/check-content.ts';
import type { CallRules } from '../calls/check-call.ts';
import { routedAgents } from '../ingress/route-event.ts';
import { KnownSecrets } from './known-secrets.ts';
import { calleeTimes, swarmSettings } from './swarm-settings.ts';

export interface Plan {
  readonly plan: SwarmPlan;
  readonly settings: ReturnType<typeof swarmSettings>;
  /** The agent for events that do not name one. */
  readonly entryAgent: string;
  readonly names: readonly string[];
  /** The declared agents by name, in the form that their processes get. */
  readonly agents: ReadonlyMap<string, DeclaredAgent>;
  /** The cards of the connections whose events can reach an agent, by the agent's name. */
  readonly connections: ReadonlyMap<string, readonly ConnectionCard[]>;
  /** The secrets of this plan and of every other plan of the run. */
  readonly secrets: KnownSecrets;
  readonly partsDigests: ReadonlyMap<string, string>;
  /** The limits of all models of agents, by counter. */
  readonly limits: ReadonlyMap<string, PlannedLimit>;
}

export class CurrentPlan {
  readonly #override: Partial<TurnPolicy>;
  readonly #secrets = new KnownSecrets();
  readonly #followers: ((plan: Plan) => void)[] = [];
  #value: Plan;

  /** The plan must be checked. `override`: the operator's settings for turns, which win over the plan. */
  constructor(plan: SwarmPlan, override: Partial<TurnPolicy> = {}) {
    this.#override = override;
    this.#value = this.preview(plan);
  }

  get value(): Plan {
    return this.#value;
  }

  /**
   * Returns the settings that this plan would result in, without applying it. Its secrets are masked from now on, because
   * its parts run on trial and in running processes before the plan is in force.
   */
  preview(plan: SwarmPlan): Plan {
    this.#secrets.learn(plan);
    return { ...readPlan(plan, this.#override), secrets: this.#secrets };
  }

  /** Replaces the plan, and returns the previous one. */
  replace(plan: SwarmPlan): Plan {
    const before = this.#value;
    this.#value = this.preview(plan);
    for (const follower of this.#followers) follower(this.#value);
    return before;
  }

  /** Calls the follower with this plan now, and with every later one. It must not throw. */
  follow(follower: (plan: Plan) => void): void {
    this.#followers.push(follower);
    follower(this.#value);
  }
}

/** Returns true if the plan has the agent, and this node misses no value of it. */
export function isRunnable({ agents }: Plan, agentName: string): boolean {
  const agent = agents.get(agentName);
  return agent !== undefined && agent.missing === undefined;
}

/** Returns the limits of the images and files of an agent's input. */
export function fileLimitsOf({ agents }: Plan, agentName: string): FileLimits {
  return { maxFileBytes: agents.get(agentName)?.policy?.maxFileBytes ?? defaultPolicy.maxFileBytes };
}

/** Returns the bytes that all files of one input may have together, for the agent with the largest limit. */
export function inputBytesOf(plan: Plan): number {
  return MOST_FILES_FULL * Math.max(...plan.names.map((name) => fileLimitsOf(plan, name).maxFileBytes));
}

/** The limits of files, read from the plan in force. */
export function fileBounds(plan: () => Plan) {
  return {
    maxFileBytes: (agentName: string) => fileLimitsOf(plan(), agentName).maxFileBytes,
    fileBytes: () => inputBytesOf(plan()),
  };
}

/** Returns the limits of calls between these agents. */
export function callRulesOf({ names, settings, agents }: Plan): CallRules {
  return {
    agents: names,
    askableBy: (agentName) => askable(agents.get(agentName), names),
    limits: settings.calls,
    timesOf: (agentName) => calleeTimes(agents.get(agentName)?.policy),
  };
}

/** Returns the cards of the agents that an agent may call. */
export function cardsFor({ agents }: Pick<SwarmPlan, 'agents'>, asker: DeclaredAgent): AgentCard[] {
  const names = new Set(
    askable(
      asker,
      agents.map(({ agentName }) => agentName),
    ),
  );
  return agents
    .filter(({ agentName }) => names.has(agentName))
    .map(({ agentName: name, description }) => defined({ name, description }));
}

/** Decides which agents an agent may call. */
function askable(asker: DeclaredAgent | undefined, names: readonly string[]): readonly string[] {
  const { mayAsk } = asker ?? {};
  return mayAsk === undefined ? names : names.filter((name) => mayAsk.includes(name));
}

function readPlan(plan: SwarmPlan, override: Partial<TurnPolicy>): Omit<Plan, 'secrets'> {
  const settings = swarmSettings(plan);
  const { agents } = plan;
  return {
    plan,
    settings,
    entryAgent: entryAgentOf(plan),
    names: agents.map(({ agentName }) => agentName),
    agents: new Map(agents.map((agent) => [agent.agentName, withSwarmPolicy(agent, settings, override)])),
    connections: connectionsByAgent(plan),
    partsDigests: new Map(agents.map((agent) => [agent.agentName, partsDigest(agent)])),
    limits: readLimits(agents.flatMap(({ models }) => Object.entries(models))),
  };
}

/** Lists, for each agent, the connections with a rule that routes events to the agent. */
export function connectionsByAgent(plan: SwarmPlan): ReadonlyMap<string, readonly ConnectionCard[]> {
  const cards = new Map<string, ConnectionCard[]>();
  for (const { connection: name, connector, rules } of plan.connections ?? []) {
    for (const agent of routedAgents(rules, entryAgentOf(plan))) {
      cards.set(agent, [...(cards.get(agent) ?? []), { name, connector }]);
    }
  }
  return cards;
}

function entryAgentOf({ entryAgent, agents }: SwarmPlan): string {
  return entryAgent ?? agents[0]?.agentName ?? '';
}

/**
 * Adds the policies of the swarm to an agent. The orchestrator counts crashes, because it can distinguish a crash from
 * a requested end and from its own end. An agent process also counts crashes, but cannot distinguish them. Its count
 * only stops an event that crashes one orchestrator after another.
 */
function withSwarmPolicy(
  agent: DeclaredAgent,
  { turn, supervision }: Plan['settings'],
  override: Partial<TurnPolicy>,
): DeclaredAgent {
  const crashesBeforeDeadLetter = supervision.crashesBeforeDeadLetter * OWN_COUNT;
  return { ...agent, policy: { ...turn, ...agent.policy, ...override, crashesBeforeDeadLetter } };
}

const OWN_COUNT = 4;
