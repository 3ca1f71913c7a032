/** Opens the questions of a swarm that does not run. Loaded by itself: the commands for a running swarm load nothing of a store. */
import { openQuestions } from '@goondan/runtime/internal';
import type { SwarmPlace } from '../swarm/swarm-place.ts';

/** `warn` is called with a sentence for each record that cannot be used. **Errors** — those of `openQuestions`, and of the store. */
export async function openStored(place: SwarmPlace, swarm: string, warn: (problem: string) => void = () => undefined) {
  if (place.cluster === undefined)
    return openQuestions({ ...place, swarm, warn: ({ path, message }) => warn(`${path}: ${message}`) });
  return (await place.cluster.open()).questions(place.workspaceId, ({ code, message }) => warn(`${code}: ${message}`));
}
