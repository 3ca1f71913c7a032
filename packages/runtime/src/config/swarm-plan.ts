/**
 * A whole, resolved swarm: the plan that the orchestrator runs. The plan is JSON, and nothing in it is left to look up.
 */
import type { ConnectorStart } from './connector-start.ts';
import type { DeclaredAgent } from './declared-agent.ts';
import type { IngressRule } from './ingress-rule.ts';
import type { SwarmPolicy } from './swarm-policy.ts';

export interface SwarmPlan {
  readonly name: string;
  /** The agent for input that does not name one; the first of `agents` when absent. */
  readonly entryAgent?: string;
  readonly agents: readonly DeclaredAgent[];
  readonly connections?: readonly ConnectionPlan[];
  readonly policy?: SwarmPolicy;
}

/** The plan of a connection: its connector, and the rules that route the connector's events. */
export interface ConnectionPlan extends ConnectorStart {
  readonly rules: readonly IngressRule[];
  /** Environment variables for the connection's process, in addition to those of every process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The nodes that run the connection, in a swarm with several nodes; `one` when absent. */
  readonly placement?: 'one' | 'every';
  /** The environment variables that this node misses. The connection does not run here then. */
  readonly missing?: readonly string[];
}
