/** Resolves one swarm of a valid bundle to its plan. */
import { GoondanError } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import { workspaceId } from '../../../workspace/layout/workspace-id.ts';
import { checkSwarmPlan } from '../../check-swarm-plan.ts';
import { closestName, suggestName } from '../../closest-name.ts';
import type { SwarmPlan } from '../../swarm-plan.ts';
import type { SwarmPolicy } from '../../swarm-policy.ts';
import type { Bundle, LoadedResourceOf } from '../bundle.ts';
import { findResource, resourcesOf } from '../find-resource.ts';
import { parseReference, referenceOf } from '../references.ts';
import { swarmOf } from '../swarm-of.ts';
import type { Environment } from '../../variable-name.ts';
import { resolveAgent } from './resolve-agent.ts';
import { resolveConnection } from './resolve-connection.ts';
import { ValueReader } from './value-reader.ts';

export interface ResolveOptions {
  /** The name of the swarm. Optional when the bundle has only one swarm, or a swarm called `default`. */
  readonly swarm?: string;
  /** The environment for `valueFrom: { env }`, usually `process.env`. */
  readonly environment: Environment;
  /** The folder in which tools work, for agents that do not name one; the bundle's folder when absent. */
  readonly workdir?: string;
  /**
   * If true, values that are missing in the environment are left out. Use it for a plan that calls nothing outside and
   * needs no key.
   */
  readonly mayMiss?: boolean;
  /**
   * If true, the plan is for one of many nodes: an agent or a connection with missing values is marked with them, because
   * another node may have them. At least one agent must have all its values.
   */
  readonly isNode?: boolean;
  /** If false, the plan has no connections, and their values are not looked up. */
  readonly connections?: boolean;
}

export interface ResolvedSwarm {
  readonly plan: SwarmPlan;
  readonly workspaceId: string;
  /** `Swarm.spec.workspace`, when it is set. */
  readonly workspace?: string;
  /** Every value that was looked up. These values must never be written down. */
  readonly secrets: readonly string[];
}

/**
 * Resolves the swarm. **Errors** — `E_BUNDLE_INVALID`; `E_SWARM_UNKNOWN`; `E_ENV_MISSING`, which names all missing
 * variables; `E_SWARM_PLAN`.
 */
export function resolveSwarm(bundle: Bundle, options: ResolveOptions): ResolvedSwarm {
  const { swarm: wanted, environment, workdir, mayMiss = false, isNode = false, connections = true } = options;
  if (!bundle.valid) throw invalid(bundle);
  const { scope } = bundle;
  const loaded = chooseSwarm(bundle, wanted);
  const { entryAgent, agents, policy, workspace } = loaded.resource.spec;
  const values = new ValueReader(environment, bundle.environmentFile);
  const secrets = new Set<string>();
  const missing = new Set<string>();
  const folders = { workdir: workdir ?? bundle.folder, packages: bundle.packages };

  const plan = defined({
    name: loaded.name,
    entryAgent: parseReference(entryAgent)?.name,
    agents: agents.flatMap((item) => {
      const found = findResource(scope, 'Agent', referenceOf(item));
      if (found === undefined) return [];
      const own = values.another();
      return [keepValues(resolveAgent(found, { scope, loaded }, own, folders), own)];
    }),
    connections: resourcesOf(scope, 'Connection')
      .filter((connection) => connections && swarmOf(scope, connection)?.loaded === loaded)
      .flatMap((connection) => {
        const own = values.another();
        const connected = resolveConnection(scope, connection, own);
        return connected === undefined ? [] : [keepValues(connected, own)];
      }),
    // Safe: the policy was read from JSON, where nothing is undefined.
    policy: policy as SwarmPolicy | undefined,
  });
  const mayRun = mayMiss || (isNode && plan.agents.some((agent) => agent.missing === undefined));
  if (missing.size > 0 && !mayRun) throw missingValues(missing);
  return defined({
    plan: checkSwarmPlan(plan),
    workspaceId: workspaceId(defined({ workspace, swarmName: loaded.name, bundleRealPath: bundle.folder })),
    workspace,
    secrets: [...secrets],
  });

  function keepValues<T extends object>(made: T, reader: ValueReader): T & { readonly missing?: readonly string[] } {
    for (const secret of reader.secrets) secrets.add(secret);
    for (const variable of reader.missing) missing.add(variable);
    return isNode && reader.missing.size > 0 ? { ...made, missing: [...reader.missing] } : made;
  }
}

/** Finds the swarm. **Errors** — `E_SWARM_UNKNOWN`. */
function chooseSwarm({ scope }: Bundle, wanted: string | undefined): LoadedResourceOf<'Swarm'> {
  const swarms = resourcesOf(scope, 'Swarm');
  const names = swarms.map(({ name }) => name);
  const name = wanted?.replace(/^Swarm\//, '') ?? (swarms.length === 1 ? names[0] : 'default');
  const chosen = swarms.find((swarm) => swarm.name === name);
  if (chosen !== undefined) return chosen;
  if (names.length === 0) {
    const suggestion =
      'Add one: `kind: Agent`, `metadata: { name: news }`, `spec: { model: anthropic/claude-sonnet-4-5 }`.';
    throw new GoondanError('E_SWARM_UNKNOWN', 'The bundle has no Agent that could run.', { suggestion });
  }
  const message =
    wanted === undefined
      ? `The bundle declares several swarms: ${names.join(', ')}.`
      : `The bundle declares no Swarm/${name ?? ''}; it has ${names.join(', ')}.`;
  const meant = wanted === undefined ? undefined : closestName(name ?? '', names);
  throw new GoondanError('E_SWARM_UNKNOWN', message, defined({ suggestion: suggestName(meant, names) }));
}

const MOST_LISTED = 20;

function invalid({ errors }: Bundle): GoondanError {
  const listed = errors.slice(0, MOST_LISTED).map(({ file, line, column, resource, message }) => {
    return `${file}:${line}:${column} ${resource === undefined ? '' : `${resource}: `}${message}`;
  });
  const more = errors.length > MOST_LISTED ? [`… and ${errors.length - MOST_LISTED} more`] : [];
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors`;
  return new GoondanError('E_BUNDLE_INVALID', [`The bundle has ${count}:`, ...listed, ...more].join('\n'));
}

function missingValues(missing: ReadonlySet<string>): GoondanError {
  const names = [...missing].join(', ');
  const verb = missing.size === 1 ? 'An environment variable is' : 'Environment variables are';
  return new GoondanError('E_ENV_MISSING', `${verb} not set: ${names}.`);
}
