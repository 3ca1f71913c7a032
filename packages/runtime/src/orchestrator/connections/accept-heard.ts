/**
 * What becomes of an event that a connector emits: is it declared, where does it go, is it on disk.
 *
 * Invariants: 1. Accepted means that `accept` resolved, which it does after the durable write. 2. What the connector
 * says about itself is not believed: who it is, is the connection whose channel it came through. 3. No more than
 * `MOST_UNDER_WAY` at a time, whatever the other side is.
 */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { EmitConnectorEvent } from '../../ipc/connector-events.ts';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import { addressEvent } from '../ingress/address-event.ts';
import { routeEvent } from '../ingress/route-event.ts';

/** Resolves after the durable write; rejects with a `GoondanError`. The same event id again adds nothing. */
export type AcceptEvent = (to: AgentAddress, event: AgentEvent) => Promise<void>;

export interface Ingress {
  /** Gets what names no agent. */
  readonly entryAgent: () => string;
  readonly newTraceId: () => string;
  readonly accept: AcceptEvent;
}

/** Our own runner never has more: it refuses the next one itself. */
const MOST_UNDER_WAY = 1_000;

export function acceptHeard(plan: ConnectionPlan, { entryAgent, newTraceId, accept }: Ingress): EmitConnectorEvent {
  let underWay = 0;
  return async (id, event) => {
    if (underWay >= MOST_UNDER_WAY) throw fullError();
    checkDeclared(plan, event);
    const routed = routeEvent(plan.rules, event, entryAgent());
    if (routed.type === 'refusal') throw fromFrameError(routed.error);
    underWay += 1;
    try {
      await accept(
        routed.address,
        addressEvent({ connection: plan.connection, id, event }, routed.address, newTraceId()),
      );
    } finally {
      underWay -= 1;
    }
  };
}

function checkDeclared({ connector, events }: ConnectionPlan, { name }: HeardEvent): void {
  if (events === undefined || events.includes(name)) return;
  throw new GoondanError(
    'E_CONNECTOR_EVENT',
    `Connector/${connector} does not declare the event "${name}"; it declares ${events.join(', ') || 'none'}.`,
  );
}

function fullError(): GoondanError {
  return new GoondanError('E_IPC_FULL', `${MOST_UNDER_WAY} events of this connection wait to be accepted.`, {
    retryable: true,
  });
}
