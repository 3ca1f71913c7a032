/**
 * Makes the event for the callee. The identity of the caller comes from its channel and from the event of its running
 * turn; only id, input, metadata, the demand for an output and the parent span come from the frame.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { sha256 } from '../../json/sha256.ts';
import { rootOf } from '../address/root-of.ts';
import { isSpanId } from '../../trace/span-id.ts';
import type { CallFrame } from './call.ts';

/** Makes the event. `during`: the event of the caller's running turn. */
export function stampEvent(caller: AgentAddress, during: AgentEvent, frame: CallFrame, createdAt: Date): AgentEvent {
  const { input, metadata, output, parentSpanId } = frame.event;
  const { auth, isSampled } = during;
  const id = stampId(caller, frame);
  return {
    id,
    type: 'agent.message',
    instanceKey: frame.to.instanceKey,
    source: { kind: 'agent', name: caller.agentName },
    traceId: during.traceId,
    createdAt,
    ...defined({ input, metadata, output, auth, isSampled, root: rootOf(during) }),
    ...(isSpanId(parentSpanId) ? { parentSpanId } : {}),
    ...(frame.kind === 'send'
      ? {}
      : { callChain: callersOf(caller, during), replyTo: { target: caller.agentName, correlationId: id } }),
  };
}

/**
 * Returns the chain of instances that wait while the turn of `during` runs, the caller last. A `send` begins a new
 * chain, because its sender does not wait.
 */
export function callersOf(caller: AgentAddress, during: AgentEvent): AgentAddress[] {
  const { agentName, instanceKey } = caller;
  return [...(during.callChain ?? []), { agentName, instanceKey }];
}

/**
 * Makes the id of a call. If the caller or the orchestrator crashes, the repeated call gets the same id. A call from or
 * to another instance gets a different id, even if its frame contains the same id.
 */
export function stampId(caller: AgentAddress, { kind, to, event }: CallFrame): string {
  const parts = [kind, caller.agentName, caller.instanceKey, to.agentName, to.instanceKey, event.id];
  return `call-${sha256(JSON.stringify(parts)).slice(0, 32)}`;
}
