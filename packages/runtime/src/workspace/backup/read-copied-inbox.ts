/** Reads the accepted input of a conversation from the copy of its inbox. */
import { readPending } from '../inbox/inbox-reader.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { turnIdOf } from '../../ports/ids.ts';

/** Returns the ids of the turns whose input waits in the copy. **Errors** — `E_STORE_CORRUPT` when it is damaged. */
export async function readCopiedInbox(copy: StoredInstance): Promise<readonly string[]> {
  return (await readPending(copy)).map(({ event }) => turnIdOf(event.id));
}
