import { type AgentAddress, GoondanError } from '@goondan/types';

/** Returns the name of an instance in messages about its log. */
export function nameInstance({ agentName, instanceKey }: AgentAddress): string {
  return `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
}

export function corruptLine(instance: AgentAddress, problem: string): GoondanError {
  return damagedConversation(`The log of ${nameInstance(instance)} is damaged: ${problem}`);
}

/** The error for a conversation that is not in files, and that cannot be read. Others are not concerned. */
export function damagedConversation(message: string): GoondanError {
  return new GoondanError('E_STORE_CORRUPT', message, { suggestion: REPAIR });
}

const REPAIR =
  'Restore the rows of this conversation from a backup of the database, or undo the change that was made by hand; then run ' +
  '`gdn restart --instance KEY`. Without a backup, `gdn instance delete KEY --force` gives the conversation up. Other ' +
  'conversations are not concerned.';
