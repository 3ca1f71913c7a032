/** Opens the questions of a swarm: of the running one, or from its store while nothing runs. */
import type { Swarm } from '@goondan/runtime';
import type { BundleOptions } from '../common-options.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';
import { reachSwarm } from '../swarm/reach-swarm.ts';

/** The questions of a swarm. */
export type QuestionDoor = Pick<Swarm, 'questions' | 'answer' | 'grants' | 'revoke'>;

/**
 * Runs `work`, and again if the swarm starts or stops meanwhile. No person is asked in `work`, because a swarm that is not
 * running cannot start before its end. `via`: the name of the door, for the record. **Errors** — those of `placeOfSwarm`,
 * `attachSwarm`, `openQuestions` and `work`.
 */
export async function withQuestions<Value>(
  options: BundleOptions,
  signal: AbortSignal,
  work: (door: QuestionDoor, via: 'cli' | 'disk') => Promise<Value>,
): Promise<Value> {
  return work(await reachSwarm(options), 'cli');
}
