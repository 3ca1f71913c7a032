/** For tests: waits until a person is asked. */
import { basename } from 'node:path';
import { connectSwarm, type QuestionSummary } from '@goondan/runtime';
import { until } from '../../../../test/until.ts';
import type { GdnPlace } from './gdn-place.ts';

/** Returns the question of a conversation. Reads the files directly, because a process for every check would be slow. */
export function waitingQuestion(place: GdnPlace, key = 'default'): Promise<QuestionSummary> {
  const connect = async () => connectSwarm({ stateRoot: place.stateRoot, workspaceId: basename(place.workspace) });
  const find = async () => {
    // The swarm may not have started yet.
    const swarm = await connect().catch(() => undefined);
    return (await swarm?.questions())?.find(({ instanceKey }) => instanceKey === key);
  };
  return until(find, { within: 60_000, about: `a question in conversation ${key}` });
}
