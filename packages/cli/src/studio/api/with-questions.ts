/** Reaches the questions of a workspace: those of its running swarm, or those on disk while no swarm runs. */
import { GoondanError } from '@goondan/types';
import { type AskedQuestions, readStoppedQuestions } from '../../question/read-stopped-questions.ts';
import { type QuestionDoor, withQuestionsAt } from '../../question/with-questions.ts';
import { attachSwarm } from '../../swarm/attach-swarm.ts';
import { openReader, type SwarmPlace } from '../../swarm/swarm-place.ts';
import type { StudioHost } from '../studio-host.ts';
import { notRunning, SILENCE_MS } from './reach-workspace.ts';

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
