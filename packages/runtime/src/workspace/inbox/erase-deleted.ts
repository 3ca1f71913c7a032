/**
 * Removes the lines of deleted instances from the files of the inbox log. A line `deleted` voids all lines of its instance
 * before it, but their text stays until their segments are removed. So a new segment begins with the pending lines of all
 * other instances, and all older segments are removed. As long as the log has a line `deleted`, this is not done yet, so
 * an interrupted removal is done when the log is opened again.
 */
import type { StorePorts } from '../store-ports.ts';
import type { InboxLog } from './inbox-log.ts';
import type { InboxContents } from './read-inbox-log.ts';

/** The deletion has happened, so a failure is only reported. */
export async function eraseDeleted(
  { warn, folder }: Pick<StorePorts, 'warn'> & { readonly folder: string },
  { inboxes, lost, segments }: InboxContents,
  log: InboxLog,
): Promise<void> {
  const deleted = [...inboxes.values()].filter(({ deletedAt }) => deletedAt > 0);
  if (deleted.length === 0) return;
  const warnOf = (reason: string) => warn({ path: folder, message: `has input of a deleted instance ${reason}` });
  // A person may still repair the damaged files, so they stay.
  if (lost || segments.some(({ isDamaged }) => isDamaged)) return warnOf('until its damaged files are repaired');
  try {
    await log.renew();
    for (const inbox of deleted) inbox.deletedAt = 0;
  } catch (error) {
    warnOf(`until the next start: ${error instanceof Error ? error.message : String(error)}`);
  }
}
