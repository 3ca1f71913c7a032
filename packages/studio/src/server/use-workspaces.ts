import type { WorkspaceList } from '@goondan/cli/studio';
import { useState } from 'react';
import { type Answered, useQuery } from './use-query.ts';
import { useTicks } from './use-ticks.ts';

/** How often to look for new swarms. While there is none, `WAIT_FOR_FIRST_MS` is used instead. */
const LOOK_AGAIN_MS = 5_000;
const WAIT_FOR_FIRST_MS = 1_000;

export function useWorkspaces(shown: string | undefined): Answered<WorkspaceList> {
  const [hasSome, setSome] = useState(false);
  const ticks = useTicks(hasSome ? LOOK_AGAIN_MS : WAIT_FOR_FIRST_MS);
  const list = useQuery<WorkspaceList>('/api/workspaces', `${shown} ${ticks}`);
  const isFilled = list.value !== undefined && (list.value.opened !== undefined || list.value.workspaces.length > 0);
  if (isFilled !== hasSome) setSome(isFilled);
  return list;
}
