/** A whole swarm, resolved: the plan that the orchestrator runs. JSON; nothing in it is left to look up. */
import type { ConnectorStart } from './connector-start.ts';
import type { DeclaredAgent } from './declared-agent.ts';
import type { IngressRule } from './ingress-rule.ts';
import type { SwarmPolicy } from './swarm-policy.ts';

export interface SwarmPlan {
  readonly name: string;
  /** One of `agents`, for input that names no agent. The first one when absent. */
  readonly entryAgent?: string;
  readonly agents: readonly DeclaredAgent[];
  readonly connections?: readonly ConnectionPlan[];
  readonly policy?: SwarmPolicy;
}

/** A connector that listens for this swarm, and the rules that route its events. */
export interface ConnectionPlan extends ConnectorStart {
  readonly rules: readonly IngressRule[];
  /** Environment variables for its process, in addition to those of every process. */
  readonly environment?: Readonly<Record<string, string>>;
}
