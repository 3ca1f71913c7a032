/** Makes the error of an instance whose input is damaged. A copy is made of a damaged file only, never of a whole one. */
import { GoondanError } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import type { InboxContents, InboxDamage } from './read-inbox-log.ts';

const RESTORE =
  'Stop the swarm, restore the folder `inbox/` from a backup, and start the swarm again. Without a backup, ';
const FORK = '`gdn fork` continues with the messages in a new conversation, and ';
const GIVE_UP = '`gdn instance delete --force` gives up the missing input.';

/**
 * `path` is empty when the damaged file was removed, or is not known. The folder is named then, because no file in it
 * needs to be one that had the input.
 */
export async function reportDamage(
  stored: StoredInstance,
  folder: string,
  { segments, current }: Pick<InboxContents, 'segments' | 'current'>,
  { path, problem, isMissing = false }: InboxDamage,
): Promise<GoondanError> {
  await stored.confirm?.(path || folder, problem);
  // A missing file concerns all instances, also the new conversation of a fork.
  if (isMissing)
    return new GoondanError('E_STORE_CORRUPT', `${path} is missing, and with it acknowledged input`, {
      suggestion: `Restore the file from a backup. Without a backup, ${GIVE_UP}`,
    });
  const damaged = path || segments.find(({ isDamaged }) => isDamaged)?.path;
  if (damaged !== undefined) return corruptStore(stored, damaged, problem);
  const names = (await stored.fs.list(folder)) ?? [];
  const hasCopy = names.some((name) => name.includes('.corrupt-'));
  const end = hasCopy ? 'copies of damaged files are beside it' : `its last line ends at byte ${current?.end ?? 0}`;
  const newest = segments.at(-1);
  const gone = newest
    ? `and no file of the folder has it (the newest is ${newest.path}, ${end})`
    : 'because the folder has no file with input';
  return new GoondanError('E_STORE_CORRUPT', `${folder} is damaged: ${problem}, ${gone}`, {
    suggestion: RESTORE + FORK + GIVE_UP,
  });
}
