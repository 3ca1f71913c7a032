/** Reading the plan again and putting it in force, one reload at a time; one that fails changes nothing and is told. */
import { GoondanError } from '@goondan/types';
import { checkSwarmPlan } from '../../config/check-swarm-plan.ts';
import type { PlanReconcile } from '../../config/plan-reconcile.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { applyPlan, type ReloadedParts } from './apply-plan.ts';

/** Reads the plan as it is now. What it throws is why nothing changes. */
export type ReadPlan = () => Promise<SwarmPlan>;

/**
 * **Errors** — `E_RELOAD_SOURCE` when the swarm was started without a way to read its plan again, `E_RELOAD_SWARM` when
 * it has another name now, `E_SWARM_PLAN`, and what `read` throws. Nothing has changed then (L-05).
 */
export function swarmReloader(parts: ReloadedParts, read: ReadPlan | undefined): () => Promise<PlanReconcile> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const reload = last.then(() => reloadOnce(parts, read));
    last = reload.catch(() => undefined);
    return reload;
  };
}

async function reloadOnce(parts: ReloadedParts, read: ReadPlan | undefined): Promise<PlanReconcile> {
  const { swarm } = parts;
  try {
    const changes = await applyPlan(parts, await readWanted(parts, read));
    swarm.report('info', 'swarm.reloaded', describeChanges(changes));
    return changes;
  } catch (error) {
    const problem = error instanceof GoondanError ? `${error.code}: ${error.message}` : String(error);
    swarm.report('error', 'swarm.reload_refused', `Nothing was changed. ${problem}`);
    throw error;
  }
}

async function readWanted({ inForce }: ReloadedParts, read: ReadPlan | undefined): Promise<SwarmPlan> {
  if (read === undefined) {
    throw new GoondanError('E_RELOAD_SOURCE', 'This swarm was started without a way to read its plan again.');
  }
  const wanted = checkSwarmPlan(await read());
  const { name } = inForce.current.plan;
  if (wanted.name === name) return wanted;
  throw new GoondanError('E_RELOAD_SWARM', `The swarm that runs is "${name}", and now it is called "${wanted.name}".`);
}

/** For people: `changed Agent/coder; added Agent/tester; 3 kept`. */
export function describeChanges({ kept, changed, added, removed }: PlanReconcile): string {
  const lists = [
    ['changed', changed],
    ['added', added],
    ['removed', removed],
  ] as const;
  const told = lists.filter(([, names]) => names.length > 0).map(([what, names]) => `${what} ${names.join(', ')}`);
  return told.length === 0 ? 'Nothing has changed.' : `Reloaded: ${told.join('; ')}; ${kept.length} kept.`;
}
