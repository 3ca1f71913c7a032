/** Reaches the questions of a workspace: those of its running swarm, or those on disk while no swarm runs. */
import type { QuestionSummary } from '@goondan/runtime';
import type { GrantSummary } from '@goondan/runtime/control';
import { readStoredQuestions } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { type QuestionDoor, withQuestionsAt } from '../../question/with-questions.ts';
import { attachSwarm } from '../../swarm/attach-swarm.ts';
import { openReader, type SwarmPlace } from '../../swarm/swarm-place.ts';
import type { StudioHost } from '../studio-host.ts';
import { notRunning, SILENCE_MS } from './reach-workspace.ts';

export interface AskedQuestions {
  readonly questions: readonly QuestionSummary[];
  readonly grants: readonly GrantSummary[];
}

/**
 * Changes the questions. While no swarm runs, none can start before the end of `change`. **Errors** — `E_CONTROL_CLOSED` if
 * no swarm ever ran; those of `withQuestionsAt` and of `change`.
 */
export async function withQuestions(
  host: StudioHost,
  place: SwarmPlace,
  change: (door: QuestionDoor) => Promise<void>,
): Promise<void> {
  const { swarm = place.workspaceId } = (await (await openReader(place)).directory.swarm()) ?? {};
  const { signal } = new AbortController();
  try {
    await withQuestionsAt(place, swarm, signal, change, { silenceMs: SILENCE_MS });
  } catch (error) {
    if (!GoondanError.is(error) || error.code !== 'E_SWARM_UNKNOWN') throw error;
    throw await notRunning(host, place);
  }
}

/** Reads the questions. **Errors** — those of `attachSwarm` and of reading. */
export async function readQuestions({ warn }: StudioHost, place: SwarmPlace): Promise<AskedQuestions> {
  const swarm = await attachSwarm(place, { silenceMs: SILENCE_MS });
  if (swarm === undefined) return readStoppedQuestions(place, warn);
  return { questions: await swarm.questions(), grants: await swarm.grants() };
}

/** Reads the questions of a stopped swarm, without a lock; none if they cannot be read, which is reported as a warning. */
export async function readStoppedQuestions(place: SwarmPlace, warn: StudioHost['warn']): Promise<AskedQuestions> {
  try {
    if (place.cluster === undefined) return await readBoth(readStoredQuestions({ ...place, warn }));
    const stored = await (await place.cluster.open()).questions(place.workspaceId);
    try {
      return await readBoth(stored);
    } finally {
      await stored.close();
    }
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    warn({ path: place.workspaceId, message: error.message });
    return { questions: [], grants: [] };
  }
}

async function readBoth(door: Pick<QuestionDoor, 'questions' | 'grants'>): Promise<AskedQuestions> {
  return { questions: await door.questions(), grants: await door.grants() };
}
