/** A whole swarm, resolved: what the orchestrator runs. It is JSON; nothing in it is left to look up. */
import type { ConnectorStart } from './connector-start.ts';
import type { DeclaredAgent } from './declared-agent.ts';
import type { IngressRule } from './ingress-rule.ts';
import type { SwarmPolicy } from './swarm-policy.ts';

export interface SwarmPlan {
  readonly name: string;
  /** One of `agents`; gets what names no agent. The first when absent. */
  readonly entryAgent?: string;
  readonly agents: readonly DeclaredAgent[];
  readonly connections?: readonly ConnectionPlan[];
  readonly policy?: SwarmPolicy;
}

/** One connector that listens for this swarm, and where what it hears goes. */
export interface ConnectionPlan extends ConnectorStart {
  readonly rules: readonly IngressRule[];
  /** Environment variables for its process, beside what every process gets. */
  readonly environment?: Readonly<Record<string, string>>;
}
