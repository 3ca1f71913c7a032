import type { Swarm } from '@goondan/runtime';
import type { SwarmPlace } from '../../swarm/swarm-place.ts';
import type { StudioHost } from '../studio-host.ts';
import { reachWorkspace } from './reach-workspace.ts';

export type AskedQuestions = Pick<Swarm, 'questions' | 'answer' | 'grants' | 'revoke'>;

/** Uses the questions of a workspace. **Errors** — those of `reachWorkspace` and of `use`. */
export async function withQuestions<Value>(
  host: StudioHost,
  place: SwarmPlace,
  use: (questions: AskedQuestions) => Promise<Value>,
): Promise<Value> {
  return use(await reachWorkspace(host, place));
}
