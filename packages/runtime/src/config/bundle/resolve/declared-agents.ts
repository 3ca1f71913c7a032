import { defined } from '../../../json/defined.ts';
import type { DeclaredAgent } from '../../declared-agent.ts';
import type { Bundle } from '../bundle.ts';
import { findResource } from '../find-resource.ts';
import { parseReference, referenceOf } from '../references.ts';
import { resolveAgent } from './resolve-agent.ts';
import { chooseSwarm, type ResolveOptions } from './resolve-swarm.ts';
import { ValueReader } from './value-reader.ts';

export interface DeclaredAgents {
  readonly entryAgent?: string;
  readonly agents: readonly DeclaredAgent[];
}

/**
 * Resolves the agents of a valid bundle for inspection, not to run them. A value that is missing in the environment is
 * left out; `resolveSwarm` would throw.
 *
 * **Errors** — `E_SWARM_UNKNOWN`.
 */
export function declaredAgents(
  bundle: Bundle,
  { swarm: wanted, environment, workdir }: ResolveOptions,
): DeclaredAgents {
  const { scope, folder } = bundle;
  const loaded = chooseSwarm(bundle, wanted);
  const values = new ValueReader(environment, bundle.environmentFile);
  return defined({
    entryAgent: parseReference(loaded.resource.spec.entryAgent)?.name,
    agents: loaded.resource.spec.agents.flatMap((item) => {
      const found = findResource(scope, 'Agent', referenceOf(item));
      if (found === undefined) return [];
      return [resolveAgent(found, { scope, loaded }, values.another(), workdir ?? folder)];
    }),
  });
}
