import { existsSync } from 'node:fs';
import type { AgentAddress } from '@goondan/types';
import { instancePaths, workspaceFolder, type JournalLocation } from '../layout/instance-paths.ts';

/** Returns true if any file of a conversation was ever written. Pending input does not count. */
export function hasConversation({ stateRoot, workspaceId }: JournalLocation, address: AgentAddress): boolean {
  const { metadata, events } = instancePaths(workspaceFolder(stateRoot, workspaceId), address);
  return existsSync(metadata) || existsSync(events);
}
