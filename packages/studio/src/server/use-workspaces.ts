import type { WorkspaceList } from '@goondan/cli/studio';
import { type Answered, useAnswer } from './use-answer.ts';
import { useTicks } from './use-ticks.ts';

/** A swarm that is started meanwhile appears; one that is looked at anew may have been the reason. */
const LOOK_AGAIN_MS = 5_000;

export function useWorkspaces(shown: string | undefined): Answered<WorkspaceList> {
  return useAnswer<WorkspaceList>('/api/workspaces', `${shown} ${useTicks(LOOK_AGAIN_MS)}`);
}
