/** Opens the questions of a swarm: of the running one, or from its store while nothing runs. */
import type { Swarm } from '@goondan/runtime';
import type { ConnectOptions } from '@goondan/runtime/control';
import { GoondanError } from '@goondan/types';
import type { BundleOptions } from '../common-options.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import { betweenSwarms } from '../swarm/between-swarms.ts';
import { placeOfSwarm } from '../swarm/reach-swarm.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';

/** The questions of a swarm. */
export type QuestionDoor = Pick<Swarm, 'questions' | 'answer' | 'grants' | 'revoke'>;

/** `via`: the name of the door, for the record. */
type Work<Value> = (door: QuestionDoor, via: 'cli' | 'disk') => Promise<Value>;

interface Reach extends ConnectOptions {
  /** Called with a sentence for each record of a store that is not a question. A swarm that runs writes it to its log. */
  readonly warn?: ((problem: string) => void) | undefined;
}

/**
 * Runs `work`, and again if the swarm starts or stops meanwhile. No person is asked in `work`, because a swarm that is not
 * running cannot start before its end. **Errors** — `E_CONTROL_CLOSED` if the swarm never ran; those of `placeOfSwarm`,
 * `withQuestionsAt` and `work`.
 */
export async function withQuestions<Value>(
  options: BundleOptions,
  signal: AbortSignal,
  work: Work<Value>,
  warn?: Reach['warn'],
): Promise<Value> {
  const { swarm, ...place } = await placeOfSwarm(options);
  try {
    return await withQuestionsAt(place, swarm, signal, work, { warn });
  } catch (error) {
    if (!GoondanError.is(error) || error.code !== 'E_SWARM_UNKNOWN') throw error;
    const { notRunning } = await import('../swarm/not-running.ts');
    throw await notRunning({ ...place, swarm }, options);
  }
}

/**
 * Like `withQuestions`, at a place that is known. **Errors** — `E_SWARM_UNKNOWN` if the swarm never ran; those of
 * `attachSwarm`, `openQuestions` and `work`.
 */
export function withQuestionsAt<Value>(
  place: SwarmPlace,
  swarm: string,
  signal: AbortSignal,
  work: Work<Value>,
  { warn, ...options }: Reach = {},
): Promise<Value> {
  return betweenSwarms(async () => {
    const running = await attachSwarm(place, options);
    if (running !== undefined) return work(running, 'cli');
    const { openStored } = await import('./open-stored.ts');
    const stored = await openStored(place, swarm, warn);
    try {
      return await work(stored, 'disk');
    } finally {
      await stored.close();
    }
  }, signal);
}
