/** Counts the model calls of the turn that is not committed, in a log that is kept elsewhere. */
import type { AgentAddress } from '@goondan/types';
import { countTurn } from '../../usage/count-turn.ts';
import type { Spending } from '../../usage/spending.ts';
import type { StoredLog } from '../conversation-log.ts';
import { readStoredLog } from './read-stored-log.ts';

/** **Errors** — those of `readStoredLog`. */
export function openSpending(
  instance: AgentAddress,
  stored: Pick<StoredLog, 'checkpoint' | 'frames'>,
): readonly Spending[] {
  return countTurn(readStoredLog(instance, stored).state.open.log).spent;
}
