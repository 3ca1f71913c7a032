import type { AgentAddress, AgentEvent } from '@goondan/types';

/** Returns the agent instance that waits for the answer to an event; `undefined` if no agent does. */
export function callerOf({ source, replyTo, callChain }: AgentEvent): AgentAddress | undefined {
  return source.kind === 'agent' && replyTo !== undefined ? callChain?.at(-1) : undefined;
}
