/** Reads the accepted input of a conversation from the copy of the inbox log. */
import { dirname } from 'node:path';
import { InboxReader } from '../inbox/inbox-reader.ts';
import { inboxFolder, type StoredInstance } from '../layout/instance-paths.ts';
import { handledUpTo } from '../records/read-log.ts';
import { turnIdOf } from '../../ports/ids.ts';

/** Returns the ids of the turns whose input waits in the copy. **Errors** — `E_STORE_CORRUPT` when it is damaged. */
export async function readCopiedInbox(copy: StoredInstance): Promise<readonly string[]> {
  const workspace = dirname(dirname(copy.paths.folder));
  const entries = await new InboxReader(copy, inboxFolder(workspace)).pending(copy, await handledUpTo(copy));
  return entries.map(({ event }) => turnIdOf(event.id));
}
