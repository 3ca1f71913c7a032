import type { AgentEvent } from '@goondan/types';

/** Creates an event with this id, whose input is `hello` and the id. `more`: fields to change. */
export function testEvent(id: string, more: Partial<AgentEvent> = {}): AgentEvent {
  return {
    id,
    type: 'user.message',
    input: `hello ${id}`,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'test' },
    traceId: 'trace',
    createdAt: new Date(0),
    ...more,
  };
}
