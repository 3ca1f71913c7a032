import type { AgentEvent, InboundEvent, RuntimeView } from '@goondan/types';
import { copyJson } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import type { RunningTurn } from './running-turn.ts';

/** Makes the value of `ctx.runtime`. Parts that do not change from turn to turn are shared by all turns. */
export function runtimeView({ agent, event }: RunningTurn): RuntimeView {
  const { address, plan, tools, engine, connections } = agent;
  const others = engine.catalog().filter(({ name }) => name !== address.agentName);
  return Object.freeze({
    ...plan.described,
    tools: tools.cards(),
    agents: frozen(others),
    connections: frozen(connections()),
    inboundEvent: frozen(inboundEvent(event)),
  });
}

function inboundEvent({ id, type, source, replyTo, metadata, callChain, createdAt }: AgentEvent): InboundEvent {
  return defined({ id, type, source, replyTo, metadata, callChain, createdAt: createdAt.toISOString() });
}

function frozen<Value>(value: Value): Value {
  // Safe: the copy of JSON has the shape of its original.
  return copyJson(value, { freeze: true }) as Value;
}
