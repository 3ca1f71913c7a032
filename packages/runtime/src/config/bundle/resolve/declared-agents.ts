import { defined } from '../../../json/defined.ts';
import type { DeclaredAgent } from '../../declared-agent.ts';
import type { Bundle } from '../bundle.ts';
import { type ResolveOptions, resolveSwarm } from './resolve-swarm.ts';

export interface DeclaredAgents {
  readonly entryAgent?: string;
  readonly agents: readonly DeclaredAgent[];
}

/**
 * Resolves the agents of a valid bundle for inspection, not to run them. A value that is missing in the environment is
 * left out and causes no error.
 *
 * **Errors** — `E_BUNDLE_INVALID`, `E_SWARM_UNKNOWN`, `E_SWARM_PLAN`.
 */
export function declaredAgents(bundle: Bundle, options: ResolveOptions): DeclaredAgents {
  const { plan } = resolveSwarm(bundle, { ...options, mayMiss: true, connections: false });
  return defined({ entryAgent: plan.entryAgent, agents: plan.agents });
}
