import { GoondanError } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import { type Check, warning } from './check.ts';

/** Checks the file that has the counts of budgets. Returns nothing if it is undamaged, or if there is none. */
export async function checkCounters(findDamage: () => Promise<string | undefined>): Promise<readonly Check[]> {
  const name = 'budgets';
  try {
    const damage = await findDamage();
    const suggestion = 'Copy the file from a backup before the next start, or compare the budgets with `gdn usage`.';
    return damage === undefined ? [] : [warning(name, harmlessText(damage), suggestion)];
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    return [warning(name, `${error.code}: ${error.message}`, error.suggestion ?? 'See `gdn explain`.')];
  }
}
