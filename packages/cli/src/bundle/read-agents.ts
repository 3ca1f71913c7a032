import { declaredAgents } from '@goondan/runtime/bundle';
import { readBundle } from './open-bundle.ts';

/** Returns the names of the agents of a swarm; `undefined` when the bundle is missing or has errors. */
export async function readAgents(folder: string, swarm: string): Promise<readonly string[] | undefined> {
  try {
    const bundle = await readBundle(folder);
    if (!bundle.valid) return undefined;
    return declaredAgents(bundle, { swarm, environment: process.env }).agents.map(({ agentName }) => agentName);
  } catch {
    return undefined;
  }
}
