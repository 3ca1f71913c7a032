/** Makes the error of an instance whose input is damaged. A copy is made of a damaged file only, never of a whole one. */
import { GoondanError } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import type { InboxContents, InboxDamage } from './read-inbox-log.ts';

/** `path` is empty when the damaged file was removed, or is not known. */
export async function reportDamage(
  stored: StoredInstance,
  folder: string,
  { segments }: InboxContents,
  { path, problem }: InboxDamage,
): Promise<GoondanError> {
  const damaged = path || segments.find(({ isDamaged }) => isDamaged)?.path;
  if (damaged !== undefined) return corruptStore(stored, damaged, problem);
  const where = 'the copy that was made when the damage was found is in this folder';
  return new GoondanError('E_STORE_CORRUPT', `${folder} is damaged: ${problem} (${where})`);
}
