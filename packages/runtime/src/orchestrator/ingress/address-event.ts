/** Makes an agent event from a connector event. Its sender is the Connection, whatever the connector says. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import { defined } from '../../json/defined.ts';
import { sha256 } from '../../json/sha256.ts';

/**
 * Makes the agent event. `connection`: the name of the Connection. `id`: the connector's own id of the event; an event
 * with the same id is a duplicate. `newTraceId` is called when the event has no trace.
 */
export function addressEvent(
  { connection, id, event }: { readonly connection: string; readonly id: string; readonly event: HeardEvent },
  to: AgentAddress,
  newTraceId: () => string,
): AgentEvent {
  const { input, content, auth, metadata, output, traceId = newTraceId() } = event;
  // A span belongs to a trace, so without a trace id it is ignored.
  const { parentSpanId, isSampled } = event.traceId === undefined ? {} : event;
  return {
    id: eventId(connection, id),
    type: event.name,
    instanceKey: to.instanceKey,
    source: { kind: 'connector', name: connection },
    traceId,
    createdAt: event.createdAt,
    ...defined({ parentSpanId, isSampled, input, content, auth, metadata, output }),
  };
}

/**
 * Makes the id of an agent event from the connection's name and the connector's id. So two connections may use the same
 * ids, and no connection can use the id of an event from another connection or from an agent.
 */
function eventId(connection: string, id: string): string {
  return `heard-${sha256(JSON.stringify([connection, id])).slice(0, 32)}`;
}
