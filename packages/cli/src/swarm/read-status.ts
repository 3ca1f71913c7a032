/** Reads the status of a swarm in a list of many, most of which do not run. */
import { existsSync } from 'node:fs';
import type { SwarmStatus } from '@goondan/runtime';
import { controlSocketPath, systemSocketEnvironment } from '@goondan/runtime/control';
import { workspaceFolder } from '@goondan/runtime/internal';
import { attachSwarm } from './attach-swarm.ts';
import type { SwarmPlace } from './swarm-place.ts';

/** The maximum time to wait for the answer of each swarm in a list. */
const PATIENCE_MS = 2_000;

/** Returns `undefined` when no swarm runs in the workspace, or when the swarm does not answer. */
export async function readStatus(place: SwarmPlace): Promise<SwarmStatus | undefined> {
  const state = await readState(place);
  return state === 'silent' ? undefined : state;
}

/** Returns `silent` for a swarm that runs but does not answer, or answers another version of `gdn` only. */
export async function readState(place: SwarmPlace): Promise<SwarmStatus | 'silent' | undefined> {
  if (!hasSocket(place)) return undefined;
  try {
    const swarm = await attachSwarm(place, { silenceMs: PATIENCE_MS });
    return await swarm?.status();
  } catch {
    return 'silent';
  }
}

/** Checks for the socket file without connecting, because most workspaces have no running swarm. */
export function hasSocket(place: SwarmPlace): boolean {
  // Only the store knows whether a node runs.
  if (place.cluster !== undefined) return true;
  const { stateRoot, workspaceId } = place;
  const folder = workspaceFolder(stateRoot, workspaceId);
  return existsSync(controlSocketPath(folder, workspaceId, systemSocketEnvironment()));
}
