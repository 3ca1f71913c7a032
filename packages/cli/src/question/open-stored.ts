/** Opens the questions of a swarm that does not run. Loaded by itself: the commands for a running swarm load nothing of a store. */
import { openQuestions } from '@goondan/runtime/internal';
import type { SwarmPlace } from '../swarm/swarm-place.ts';

/** **Errors** — those of `openQuestions`, and of the store. */
export async function openStored(place: SwarmPlace, swarm: string) {
  if (place.cluster === undefined) return openQuestions({ ...place, swarm });
  return (await place.cluster.open()).questions(place.workspaceId);
}
