/** The events that tests send without an agent of the kit. */
import type { AgentEvent } from '@goondan/types';
import type { TurnInput } from '../agent/conversation/conversation-store.ts';

/** Creates a message of a user. */
export function inputEvent(id: string, more: Partial<AgentEvent> = {}): AgentEvent {
  return {
    id,
    type: 'user.message',
    input: `text of ${id}`,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'alice' },
    traceId: `trace-${id}`,
    createdAt: new Date(0),
    ...more,
  };
}

/** Creates an input for a running turn. */
export function steeringInput(id: string, seq: number): TurnInput {
  return { seq, event: inputEvent(id, { delivery: 'now' }) };
}
