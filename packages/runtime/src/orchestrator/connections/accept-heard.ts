/**
 * Handles the events that a connector sends with `emit` or `ask`: checks that they are declared, routes them, and waits
 * until they are on disk.
 *
 * Invariants: 1. An event counts as accepted when `accept` resolves, after the durable write. 2. A connector is
 * identified by the channel of its connection, not by its own data. 3. At most `MOST_UNDER_WAY` emitted events are in
 * progress at a time, whatever the connector does. The channel limits the number of asks.
 */
import { type AgentAddress, type AgentEvent, type ConnectorAnswer, GoondanError, textOf } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { TurnEnd } from '../../control/swarm.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { AnswerAsk } from '../../ipc/connector-asks.ts';
import type { EmitConnectorEvent } from '../../ipc/connector-events.ts';
import type { UploadStore } from '../../ipc/connector-files.ts';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import type { AskAgentOptions } from '../swarm/ask-agent.ts';
import { addressEvent } from '../ingress/address-event.ts';
import { routeEvent } from '../ingress/route-event.ts';

export interface Ingress {
  /** Returns the agent for events that do not name one. */
  readonly entryAgent: () => string;
  readonly newTraceId: () => string;
  /** Stores files until their event has an address. */
  readonly uploads: UploadStore;
  /** Returns the maximum number of bytes of a file, for the agent with the largest limit. */
  readonly maxFileBytes: () => number;
  /**
   * Resolves after the durable write; rejects with a `GoondanError`. A second event with the same id changes nothing.
   */
  readonly accept: (to: AgentAddress, event: AgentEvent, connection: string) => Promise<void>;
  /** Like `accept`, but resolves at the end of the event's turn. */
  readonly ask: (to: AgentAddress, event: AgentEvent, options: AskAgentOptions, connection: string) => Promise<TurnEnd>;
}

/** Our own runner never exceeds this number: it rejects further events itself. */
const MOST_UNDER_WAY = 1_000;

export function acceptHeard(plan: ConnectionPlan, ingress: Ingress): EmitConnectorEvent {
  let underWay = 0;
  return async (id, heard) => {
    if (underWay >= MOST_UNDER_WAY) throw fullError();
    const { to, event } = address(plan, ingress, id, heard);
    underWay += 1;
    try {
      await ingress.accept(to, event, plan.connection);
    } finally {
      underWay -= 1;
    }
  };
}

export function askHeard(plan: ConnectionPlan, ingress: Ingress): AnswerAsk {
  return async (id, heard, { left, cancel, onAccepted, onDelta }) => {
    const { to, event } = address(plan, ingress, id, heard);
    let wasThere = false;
    const options: AskAgentOptions = {
      left,
      cancel,
      reason: `cancelled through Connection/${plan.connection}`,
      onAccepted: ({ agent, instanceKey, turnId, traceId, duplicate }) => {
        wasThere = duplicate;
        onAccepted({ agent, instanceKey, turnId, traceId, duplicate });
      },
      types: ['delta'],
      onNotice: onDelta && ((notice) => void (notice.type === 'delta' && onDelta(notice.delta))),
    };
    const end = await ingress.ask(to, event, options, plan.connection);
    return answerOf(end, wasThere);
  };
}

function address(plan: ConnectionPlan, { entryAgent, newTraceId }: Ingress, id: string, heard: HeardEvent) {
  checkDeclared(plan, heard);
  const routed = routeEvent(plan.rules, heard, entryAgent());
  if (routed.type === 'refusal') throw fromFrameError(routed.error);
  const { connection } = plan;
  return { to: routed.address, event: addressEvent({ connection, id, event: heard }, routed.address, newTraceId) };
}

function answerOf(
  { agent, instanceKey, traceId, result, usage, called }: TurnEnd,
  duplicate: boolean,
): ConnectorAnswer {
  const { turnId, responseMessage, ...how } = result;
  return {
    agent,
    instanceKey,
    turnId,
    traceId,
    duplicate,
    response: textOf(responseMessage),
    ...how,
    usage,
    ...defined({ called }),
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
