import { damagedConversation, nameInstance } from '@goondan/runtime/internal';
import type { AgentAddress, GoondanError } from '@goondan/types';

/** The error for rows of a conversation that no statement of this package writes: somebody changed them. */
export function damagedRows(instance: AgentAddress, table: string, problem: string): GoondanError {
  return damagedConversation(`The rows of ${nameInstance(instance)} in table ${table} are damaged: ${problem}`);
}
