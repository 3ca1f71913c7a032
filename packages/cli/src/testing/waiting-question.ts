/** For tests: waits until a person is asked. */
import { basename } from 'node:path';
import { connectSwarm, type QuestionSummary } from '@goondan/runtime';
import { until } from '../../../../test/until.ts';
import type { GdnPlace } from './gdn-place.ts';

/** Returns the question of a conversation. Reads the files directly, because a process for every check would be slow. */
export function waitingQuestion(place: GdnPlace, key = 'default'): Promise<QuestionSummary> {
  const find = async () => {
    const swarm = await connectSwarm({ stateRoot: place.stateRoot, workspaceId: basename(place.workspace) });
    return (await swarm.questions()).find(({ instanceKey }) => instanceKey === key);
  };
  return until(() => find().catch(() => undefined), { within: 60_000, about: `a question in conversation ${key}` });
}
