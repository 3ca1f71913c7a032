import type { SwarmPlan } from '@goondan/runtime';
import { resolveSwarm } from '@goondan/runtime/bundle';
import { GoondanError } from '@goondan/types';
import { readBundle } from '../bundle/open-bundle.ts';
import type { PreparedRun } from './prepare-run.ts';

/** Reads the current bundle of a running swarm. **Errors** — `E_RELOAD_SWARM`, those of `resolveSwarm`. */
export async function readPlanAgain(run: PreparedRun): Promise<SwarmPlan> {
  const { bundle, swarmName, workdir, workspaceId, connections = true } = run;
  const now = await readBundle(bundle.folder);
  const wanted = { swarm: swarmName, environment: process.env, workdir, connections };
  const { plan, workspaceId: other } = resolveSwarm(now, wanted);
  if (other === workspaceId) return plan;
  const message = `Swarm "${swarmName}" names another workspace now, and it keeps its own for as long as it runs.`;
  throw new GoondanError('E_RELOAD_SWARM', message);
}
