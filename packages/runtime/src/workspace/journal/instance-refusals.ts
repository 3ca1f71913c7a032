/** The errors for an instance that cannot be deleted or created. All callers share their texts. */
import { type AgentAddress, GoondanError } from '@goondan/types';

export function unknownInstance({ agentName, instanceKey }: AgentAddress): GoondanError {
  return new GoondanError('E_INSTANCE_UNKNOWN', `${agentName} has no conversation ${JSON.stringify(instanceKey)}.`);
}

export function takenKey({ agentName, instanceKey }: AgentAddress): GoondanError {
  return new GoondanError(
    'E_INSTANCE_EXISTS',
    `${agentName} has a conversation ${JSON.stringify(instanceKey)} already.`,
  );
}

export function pendingInputs({ agentName, instanceKey }: AgentAddress, count: number): GoondanError {
  const inputs = count === 1 ? '1 accepted input that is' : `${count} accepted inputs that are`;
  const message = `Conversation ${JSON.stringify(instanceKey)} of ${agentName} has ${inputs} not handled yet.`;
  return new GoondanError('E_INSTANCE_PENDING', message);
}
