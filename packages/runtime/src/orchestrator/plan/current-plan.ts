/**
 * The current plan of a swarm, and the settings derived from it. A reload replaces it as a whole, so read `value` each
 * time and keep nothing of it.
 */
import type { AgentCard } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { partsDigest } from '../../config/parts-digest.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { TurnPolicy } from '../../config/turn-policy.ts';
import { type Mask, maskSecrets } from '../../log/mask-secrets.ts';
import type { CallRules } from '../calls/check-call.ts';
import { calleeTimes, type SwarmSettings, swarmSettings } from './swarm-settings.ts';

export interface Plan {
  readonly plan: SwarmPlan;
  readonly settings: SwarmSettings;
  /** The agent for events that name none. */
  readonly entryAgent: string;
  readonly names: readonly string[];
  /** Agents as their processes get them. */
  readonly agents: ReadonlyMap<string, DeclaredAgent>;
  /** The cards of all agents, which every agent gets. */
  readonly cards: readonly AgentCard[];
  /** Functions that mask the secrets of each agent. */
  readonly masks: ReadonlyMap<string, Mask>;
  /** Masks the secrets of all agents and connections, for data that goes from one to another. */
  readonly mask: Mask;
  readonly partsDigests: ReadonlyMap<string, string>;
}

export class CurrentPlan {
  readonly #override: Partial<TurnPolicy>;
  #value: Plan;

  /** Takes a checked plan. `override`: the operator's settings for turns, which win over the plan. */
  constructor(plan: SwarmPlan, override: Partial<TurnPolicy> = {}) {
    this.#override = override;
    this.#value = readPlan(plan, override);
  }

  get value(): Plan {
    return this.#value;
  }

  /** Returns the settings that this plan would have. */
  preview(plan: SwarmPlan): Plan {
    return readPlan(plan, this.#override);
  }

  /** Returns the plan that was in force before. */
  replace(plan: SwarmPlan): Plan {
    const before = this.#value;
    this.#value = this.preview(plan);
    return before;
  }
}

/** Returns the limits of calls between these agents. */
export function callRulesOf({ names, settings, agents }: Plan): CallRules {
  return {
    agents: names,
    limits: settings.calls,
    timesOf: (agentName) => calleeTimes(agents.get(agentName)?.policy),
  };
}

function readPlan(plan: SwarmPlan, override: Partial<TurnPolicy>): Plan {
  const settings = swarmSettings(plan);
  const { agents } = plan;
  return {
    plan,
    settings,
    entryAgent: plan.entryAgent ?? agents[0]?.agentName ?? '',
    names: agents.map(({ agentName }) => agentName),
    agents: new Map(agents.map((agent) => [agent.agentName, withSwarmPolicy(agent, settings, override)])),
    cards: agents.map(({ agentName: name, description }) => ({
      name,
      ...(description === undefined ? {} : { description }),
    })),
    masks: new Map(agents.map(({ agentName, secrets = [] }) => [agentName, maskSecrets(secrets)])),
    mask: maskSecrets(secretsOf(plan)),
    partsDigests: new Map(agents.map((agent) => [agent.agentName, partsDigest(agent)])),
  };
}

function secretsOf({ agents, connections = [] }: SwarmPlan): string[] {
  return [
    ...agents.flatMap(({ secrets = [] }) => secrets),
    ...connections.flatMap(({ secrets, masked = [] }) => [...Object.values(secrets), ...masked]),
  ];
}

/**
 * Sets the policies of an agent. The orchestrator counts crashes, because it can tell a crash from an ordered end and
 * from its own end. The count of the process itself cannot; it is for an event that would crash one orchestrator after
 * another.
 */
function withSwarmPolicy(
  agent: DeclaredAgent,
  { turn, supervision }: SwarmSettings,
  override: Partial<TurnPolicy>,
): DeclaredAgent {
  const crashesBeforeDeadLetter = supervision.crashesBeforeDeadLetter * OWN_COUNT;
  return { ...agent, policy: { ...turn, ...agent.policy, ...override, crashesBeforeDeadLetter } };
}

const OWN_COUNT = 4;
