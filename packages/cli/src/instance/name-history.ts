import { type AgentAddress, GoondanError } from '@goondan/types';
import { quoteForShell } from '../quote-for-shell.ts';

/**
 * Reads a moment of a conversation. An error about the moment suggests the history of this conversation, because the command
 * without its names may mean another one.
 */
export async function nameHistory<Value>(
  { agentName, instanceKey }: AgentAddress,
  read: () => Promise<Value>,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (!GoondanError.is(error) || error.code !== 'E_HISTORY_RANGE') throw error;
    const command = `gdn history ${quoteForShell(agentName)} ${quoteForShell(instanceKey)}`;
    const suggestion = `List the events and turns with \`${command}\`.`;
    throw new GoondanError(error.code, error.message, { suggestion, cause: error });
  }
}
