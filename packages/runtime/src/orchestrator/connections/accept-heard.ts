/**
 * What becomes of an event that a connector emits, or asks: is it declared, where does it go, is it on disk.
 *
 * Invariants: 1. Accepted means that `accept` resolved, which it does after the durable write. 2. What the connector
 * says about itself is not believed: who it is, is the connection whose channel it came through. 3. No more than
 * `MOST_UNDER_WAY` emits at a time, whatever the other side is; the bound of asks is the channel's.
 */
import { type AgentAddress, type AgentEvent, type ConnectorAnswer, GoondanError, textOf } from '@goondan/types';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import type { TurnEnd } from '../../control/swarm.ts';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { AnswerAsk } from '../../ipc/connector-asks.ts';
import type { EmitConnectorEvent } from '../../ipc/connector-events.ts';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import type { AskAgentOptions } from '../swarm/ask-agent.ts';
import { addressEvent } from '../ingress/address-event.ts';
import { routeEvent } from '../ingress/route-event.ts';

export interface Ingress {
  /** Gets what names no agent. */
  readonly entryAgent: () => string;
  readonly newTraceId: () => string;
  /** Resolves after the durable write; rejects with a `GoondanError`. The same event id again adds nothing. */
  readonly accept: (to: AgentAddress, event: AgentEvent) => Promise<void>;
  /** The same, and resolves when the turn of the event is over. */
  readonly ask: (to: AgentAddress, event: AgentEvent, options: AskAgentOptions) => Promise<TurnEnd>;
}

/** Our own runner never has more: it refuses the next one itself. */
const MOST_UNDER_WAY = 1_000;

export function acceptHeard(plan: ConnectionPlan, ingress: Ingress): EmitConnectorEvent {
  let underWay = 0;
  return async (id, heard) => {
    if (underWay >= MOST_UNDER_WAY) throw fullError();
    const { to, event } = address(plan, ingress, id, heard);
    underWay += 1;
    try {
      await ingress.accept(to, event);
    } finally {
      underWay -= 1;
    }
  };
}

export function askHeard(plan: ConnectionPlan, ingress: Ingress): AnswerAsk {
  return async (id, heard, { left, cancel, onAccepted, onDelta }) => {
    const { to, event } = address(plan, ingress, id, heard);
    let wasThere = false;
    const end = await ingress.ask(to, event, {
      left,
      cancel,
      reason: `cancelled through Connection/${plan.connection}`,
      onAccepted: ({ agent, instanceKey, turnId, traceId, duplicate }) => {
        wasThere = duplicate;
        onAccepted({ agent, instanceKey, turnId, traceId, duplicate });
      },
      types: ['delta'],
      onNotice: onDelta && ((notice) => void (notice.type === 'delta' && onDelta(notice.delta))),
    });
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

function answerOf({ agent, instanceKey, traceId, result, usage }: TurnEnd, duplicate: boolean): ConnectorAnswer {
  const { turnId, responseMessage, finishReason, truncated, error } = result;
  return {
    agent,
    instanceKey,
    turnId,
    traceId,
    duplicate,
    response: textOf(responseMessage),
    finishReason,
    ...(truncated === true ? { truncated } : {}),
    ...(error === undefined ? {} : { error }),
    usage,
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
