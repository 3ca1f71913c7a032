/**
 * An engine for agents that call each other inside one process. It is enough to test extensions and tools that call
 * other agents, and it stores nothing.
 */
import { type AgentAddress, type AgentEvent, GoondanError, type TokenUsage, type TurnResult } from '@goondan/types';
import type { Engine } from '../agent/seams/engine.ts';
import { defaultPolicy } from '../config/turn-policy.ts';
import { describeLate, type RequestBound } from '../ipc/request-timeout.ts';
import type { Clock } from '../ports/clock.ts';
import type { TurnOutcome } from '../ports/turn-outcome.ts';
import { listenTo, withDeadline } from '../agent/with-deadline.ts';

/**
 * Handles the events for an agent, with your own function. A handler that passes the event to a running agent may return
 * its whole outcome, so that the caller counts its tokens.
 */
export type AgentHandler = (event: AgentEvent, signal: AbortSignal | undefined) => Promise<TurnResult | TurnOutcome>;

export interface InProcessEngine extends Engine {
  /** Adds an agent. Events for any of its instance keys go to `handler`. */
  add(agentName: string, handler: AgentHandler): void;
  /** Every call, in order. */
  readonly calls: readonly { readonly to: AgentAddress; readonly event: AgentEvent }[];
}

/** The time that the tokens of a handler are waited for after an abort or a timeout. */
const LATE_MS = 100;

export function inProcessEngine(clock: Clock): InProcessEngine {
  const handlers = new Map<string, AgentHandler>();
  const calls: { to: AgentAddress; event: AgentEvent }[] = [];

  const find = (to: AgentAddress): AgentHandler => {
    const handler = handlers.get(to.agentName);
    if (handler !== undefined) return handler;
    const known = [...handlers.keys()].join(', ') || 'none';
    throw new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${to.agentName}". Agents: ${known}.`);
  };

  return {
    calls,
    add: (agentName, handler) => void handlers.set(agentName, handler),
    catalog: () => [...handlers.keys()].map((name) => ({ name })),
    list: async () => [],
    async deliver(to, event) {
      const handler = find(to);
      calls.push({ to, event });
      // The sender does not wait for the turn, and a failed turn reports its own error, so the error is ignored here.
      void handler(event, undefined).catch(() => undefined);
      return { accepted: true };
    },
    async request(to, event, timeout, signal, onUsage) {
      const handler = find(to);
      calls.push({ to, event });
      const bound: RequestBound = timeout ?? { ms: defaultPolicy.turnTimeoutMs, field: 'turnTimeoutMs', from: 'turn' };
      let resolveLate: (usage: TokenUsage | undefined) => void = () => undefined;
      const late = new Promise<TokenUsage | undefined>((resolve) => (resolveLate = resolve));
      const tellLate = () => {
        onUsage?.(late);
        // Also a handler that never ends must not keep its caller.
        setTimeout(() => resolveLate(undefined), LATE_MS).unref();
      };
      const whenLate = () => {
        tellLate();
        return new GoondanError('E_AGENT_TIMEOUT', `Agent "${to.agentName}" ${describeLate(bound)}.`);
      };
      signal.addEventListener('abort', tellLate, { once: true });
      const handled = withDeadline({ clock, signal, onAbort: listenTo(signal) }, bound.ms, whenLate, async (run) => {
        try {
          const outcome = await handler(event, run.signal);
          if (!('result' in outcome)) return outcome;
          resolveLate(outcome.usage);
          if (!run.isOver) onUsage?.(outcome.usage);
          return outcome.result;
        } finally {
          resolveLate(undefined);
        }
      });
      return handled.finally(() => signal.removeEventListener('abort', tellLate));
    },
  };
}
