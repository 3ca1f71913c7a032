/**
 * Removes the answers for always from the files of a backup. People may have revoked some of them after the backup was made, which
 * the backup cannot know. So a restored conversation asks again.
 */
import { readQuestions } from '../../ipc/check/stored-question.ts';
import type { Fs } from '../../ports/fs.ts';
import { isGrant } from '../../questions/grant-summary.ts';
import { leaveOut, type QueueEntry } from '../lines/durable-queue.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { firstFile } from './backup-plan.ts';

/** Returns the number of removed answers. `workspace`: a folder that nobody uses yet. **Errors** — those of the disk. */
export async function dropGrants(fs: Fs, workspace: string): Promise<number> {
  const path = `${workspace}/${firstFile}`;
  const stored = await fs.read(path);
  if (stored === undefined) return 0;
  const { bytes, leftOut } = leaveOut(stored, isStoredGrant);
  if (leftOut > 0) await replaceFile(fs, path, bytes);
  return leftOut;
}

function isStoredGrant({ key, value }: QueueEntry): boolean {
  return readQuestions([{ id: key, value }], '', () => undefined).some(isGrant);
}
