/** Reads the questions of a swarm that does not run, for a view of it. */
import type { QuestionSummary } from '@goondan/runtime';
import type { GrantSummary } from '@goondan/runtime/control';
import { readStoredQuestions } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import type { QuestionDoor } from './with-questions.ts';

export interface AskedQuestions {
  readonly questions: readonly QuestionSummary[];
  readonly grants: readonly GrantSummary[];
}

/** Reads the questions without a lock; none if they cannot be read, which is reported as a warning. */
export async function readStoppedQuestions(
  place: SwarmPlace,
  warn: (warning: { readonly path: string; readonly message: string }) => void,
): Promise<AskedQuestions> {
  try {
    if (place.cluster === undefined) return await readBoth(readStoredQuestions({ ...place, warn }));
    const { workspaceId: path, cluster } = place;
    const stored = await (await cluster.open()).questions(path, ({ message }) => warn({ path, message }));
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
