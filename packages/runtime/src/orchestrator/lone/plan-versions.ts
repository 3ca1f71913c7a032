/** The versions of an agent that a replay can load, by the digest that the records of steps name. */
import { agentDigest } from '../../config/agent-digest.ts';
import type { ReplayedChange } from '../../config/agent-start.ts';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { DeclaredExtension } from '../../config/declared-extension.ts';
import type { DeclaredTool } from '../../config/declared-tool.ts';
import { declarationDigest, identityOf } from '../../config/reconcile-agent.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { defined } from '../../json/defined.ts';
import { shortDigest } from '../../json/short-digest.ts';
import { maskSecrets } from '../../log/mask-secrets.ts';
import { describePlans, type PlanUse } from '../../trace/plans-of.ts';
import type { Recording } from '../../trace/recording.ts';
import { CurrentPlan } from '../plan/current-plan.ts';

export interface PlanVersions {
  /** The agents by digest. The first is the current one. */
  readonly byDigest: ReadonlyMap<string, DeclaredAgent>;
  /** The digest of the current plan. */
  readonly current: string | undefined;
}

/** `plans`: the current plan, then others. Plans without the agent are left out. */
export function planVersions(plans: readonly SwarmPlan[], agentName: string): PlanVersions {
  const versions = plans.flatMap((plan): [string, DeclaredAgent][] => {
    const declared = plan.agents.find((agent) => agent.agentName === agentName);
    // A process gets the agent with the policies of the swarm, and computes the digest of that form.
    const agent = new CurrentPlan(plan).value.agents.get(agentName);
    const digest = agent && agentDigest(agent, maskSecrets(agent.secrets ?? []));
    return declared === undefined || digest === undefined ? [] : [[digest, declared]];
  });
  return { byDigest: new Map(versions.toReversed()), current: versions[0]?.[0] };
}

/** Says which parts of a run cannot be loaded. Returns `undefined` if all plans of the run are there. */
export function findMissingPlans(uses: readonly PlanUse[], { byDigest, current }: PlanVersions): string | undefined {
  const missing = uses.filter(({ plan }) => !byDigest.has(plan));
  if (missing.length === 0) return undefined;
  const now = current === undefined ? '' : `; the bundle now has plan ${shortDigest(current)}`;
  return `it ran ${describePlans(missing)}, which cannot be loaded${now}`;
}

/** The agent with which a run began, and its changes between steps. */
export interface PlanOfRun {
  readonly agent: DeclaredAgent;
  readonly changes: readonly ReplayedChange[];
}

/** Finds the agent of each step. Returns `undefined` if the recording names no plan that is there. */
export function planOfRun({ chain }: Recording, { byDigest }: PlanVersions): PlanOfRun | undefined {
  const steps = chain.inside.filter(({ kind }) => kind === 'step');
  let now = chain.plan ?? steps[0]?.plan;
  const agent = byDigest.get(now ?? '');
  if (agent === undefined) return undefined;
  const changes: ReplayedChange[] = [];
  for (const { label, plan } of steps) {
    const next = byDigest.get(plan ?? '');
    if (next === undefined || plan === now) continue;
    now = plan;
    changes.push({ fromStep: Number(label), agent: withPartsOf(changes.at(-1)?.agent ?? agent, next) });
  }
  return { agent, changes };
}

/**
 * Returns the wanted agent in the folders of the running one. Parts that are the same in both versions of the bundle
 * become the same parts, so that the process retains them as it did in the recorded turn.
 */
function withPartsOf(running: DeclaredAgent, wanted: DeclaredAgent): DeclaredAgent {
  const known = new Map(
    [...(running.extensions ?? []), ...(running.tools ?? [])].map((part) => [contentOf(part), part]),
  );
  const { bundleFolder: _bundle, workdir: _work, packages: _packages, ...rest } = wanted;
  const { bundleFolder, workdir, packages } = running;
  return {
    ...rest,
    ...defined({ bundleFolder, workdir, packages }),
    // Safe: equal declarations are of the same kind.
    extensions: (wanted.extensions ?? []).map((part) => (known.get(contentOf(part)) as DeclaredExtension) ?? part),
    tools: (wanted.tools ?? []).map((part) => (known.get(contentOf(part)) as DeclaredTool) ?? part),
  };
}

/** Returns a digest of a part that does not depend on its folder. */
function contentOf(part: DeclaredExtension | DeclaredTool): string {
  return `${identityOf(part)} ${declarationDigest({ ...part, root: '' })}`;
}
