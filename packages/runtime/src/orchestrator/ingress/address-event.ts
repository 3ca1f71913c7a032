/** Makes an agent event from a connector event: its sender is the Connection, whatever the connector says. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import { defined } from '../../json/defined.ts';
import { sha256 } from '../../json/sha256.ts';

/**
 * Makes the agent event. `connection` is the name of the Connection, and `id` the connector's own id of the event: the
 * same id again is the same event. Calls `newTraceId` when the event has no trace.
 */
export function addressEvent(
  { connection, id, event }: { readonly connection: string; readonly id: string; readonly event: HeardEvent },
  to: AgentAddress,
  newTraceId: () => string,
): AgentEvent {
  const { input, auth, metadata, traceId = newTraceId() } = event;
  // A span belongs to a trace: without one it is ignored.
  const { parentSpanId, isSampled } = event.traceId === undefined ? {} : event;
  return {
    id: eventId(connection, id),
    type: event.name,
    instanceKey: to.instanceKey,
    source: { kind: 'connector', name: connection },
    traceId,
    createdAt: event.createdAt,
    ...defined({ parentSpanId, isSampled, input, auth, metadata }),
  };
}

/**
 * Makes the id of an event. Two connections may use the same ids; neither can claim an event of the other, or of an
 * agent.
 */
function eventId(connection: string, id: string): string {
  return `heard-${sha256(JSON.stringify([connection, id])).slice(0, 32)}`;
}
