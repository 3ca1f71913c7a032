import { statSync } from 'node:fs';
import type { AgentAddress } from '@goondan/types';
import { instancePaths, workspaceFolder, type JournalLocation } from '../layout/instance-paths.ts';

/** Returns the instance whose conversation was committed last; `undefined` when none of them has a conversation. */
export function findLastUsed(
  { stateRoot, workspaceId }: JournalLocation,
  instances: Iterable<AgentAddress>,
): AgentAddress | undefined {
  const workspace = workspaceFolder(stateRoot, workspaceId);
  let last: { readonly address: AgentAddress; readonly at: number } | undefined;
  for (const address of instances) {
    const { metadata, events } = instancePaths(workspace, address);
    // An instance without a checkpoint has only its log.
    const at = changedAt(metadata) ?? changedAt(events);
    if (at !== undefined && at > (last?.at ?? -1)) last = { address, at };
  }
  return last?.address;
}

function changedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
