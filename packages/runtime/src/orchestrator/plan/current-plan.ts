/**
 * What a swarm lives by at the moment: its plan, and what follows from it. A reload replaces it as a whole, so whoever
 * needs something of it asks `value` when it is needed, and keeps nothing.
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
  /** Gets what names no agent. */
  readonly entryAgent: string;
  readonly names: readonly string[];
  /** As their processes get them. */
  readonly agents: ReadonlyMap<string, DeclaredAgent>;
  /** What every agent is told about all of them. */
  readonly cards: readonly AgentCard[];
  /** What hides the secrets of an agent. */
  readonly masks: ReadonlyMap<string, Mask>;
  /** What hides the secrets of all of them, and of the connections: for what goes from one to another. */
  readonly mask: Mask;
  readonly partsDigests: ReadonlyMap<string, string>;
}

export class CurrentPlan {
  readonly #override: Partial<TurnPolicy>;
  #value: Plan;

  /** `plan` was checked. `override`: what the operator says about turns, whatever a plan says. */
  constructor(plan: SwarmPlan, override: Partial<TurnPolicy> = {}) {
    this.#override = override;
    this.#value = readPlan(plan, override);
  }

  get value(): Plan {
    return this.#value;
  }

  /** Shows what would be in force with this plan. */
  preview(plan: SwarmPlan): Plan {
    return readPlan(plan, this.#override);
  }

  /** Returns what was in force before. */
  replace(plan: SwarmPlan): Plan {
    const before = this.#value;
    this.#value = this.preview(plan);
    return before;
  }
}

/** The limits of calls between these agents. */
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
 * Who counts crashes here is the orchestrator: it knows a crash from an order to go, and its own end from both. The
 * process's own count knows none of that; it is for an event that would take orchestrator after orchestrator with it.
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
