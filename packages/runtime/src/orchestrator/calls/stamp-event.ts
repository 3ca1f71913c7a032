/**
 * The event that the callee gets. Everything about who asks comes from the caller's channel and from the event whose
 * turn runs there; of the frame only id, input, metadata and the parent span are taken.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { isSpanId } from '../../trace/span-id.ts';
import type { CallFrame } from './call.ts';

/** `during` is the event whose turn runs at the caller. */
export function stampEvent(caller: AgentAddress, during: AgentEvent, frame: CallFrame, createdAt: Date): AgentEvent {
  const { input, metadata, parentSpanId } = frame.event;
  const id = stampId(caller, frame);
  return {
    id,
    type: 'agent.message',
    instanceKey: frame.to.instanceKey,
    source: { kind: 'agent', name: caller.agentName },
    traceId: during.traceId,
    createdAt,
    ...(input === undefined ? {} : { input }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(during.auth === undefined ? {} : { auth: during.auth }),
    ...(isSpanId(parentSpanId) ? { parentSpanId } : {}),
    ...(during.isSampled === undefined ? {} : { isSampled: during.isSampled }),
    ...(frame.kind === 'send'
      ? {}
      : { callChain: callersOf(caller, during), replyTo: { target: caller.agentName, correlationId: id } }),
  };
}

/** The instances that wait while `during` is handled, the caller last. A `send` ends it: nobody waits for one. */
export function callersOf(caller: AgentAddress, during: AgentEvent): AgentAddress[] {
  const { agentName, instanceKey } = caller;
  return [...(during.callChain ?? []), { agentName, instanceKey }];
}

/**
 * The same call again, after a crash of the caller or of the orchestrator, has the same id; the call of another
 * instance, or to another one, never has, whatever id it claims.
 */
export function stampId(caller: AgentAddress, { kind, to, event }: CallFrame): string {
  const parts = [kind, caller.agentName, caller.instanceKey, to.agentName, to.instanceKey, event.id];
  return `call-${sha256(JSON.stringify(parts)).slice(0, 32)}`;
}
