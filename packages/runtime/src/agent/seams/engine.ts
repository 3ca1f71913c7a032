/**
 * The seam between a turn and the other agents. An engine delivers events and sends requests; it knows nothing about
 * turns.
 *
 * Invariants that every engine guarantees: delivery is in order for each address, idempotent on `event.id`, and durable
 * before `deliver` resolves. A request ends in exactly one way: with a reply, an error or a timeout.
 */
import {
  type AgentAddress,
  type AgentCard,
  type AgentEvent,
  type AgentInstance,
  GoondanError,
  type TokenUsage,
  type TurnResult,
} from '@goondan/types';
import type { RequestTimeout } from '../../ipc/request-timeout.ts';

/**
 * Gets the tokens of a called turn. After an abort or a timeout the called turn still has to end, so it gets a promise. The
 * promise resolves within seconds, with `undefined` if the tokens are not known by then.
 */
export type OnUsage = (usage: TokenUsage | Promise<TokenUsage | undefined>) => void;

export interface Engine {
  deliver(to: AgentAddress, event: AgentEvent): Promise<{ accepted: true }>;
  /** Lists all agents that can be called. */
  catalog(): readonly AgentCard[];
  list(): Promise<readonly AgentInstance[]>;
  /**
   * Sends a request and waits for its answer. Without `timeout`, it waits as long as the called agent's turn may run.
   * `onUsage` is called at most once, before the promise settles; also when the request fails.
   */
  request(
    to: AgentAddress,
    event: AgentEvent,
    timeout: RequestTimeout | undefined,
    signal: AbortSignal,
    onUsage?: OnUsage,
  ): Promise<TurnResult>;
}

/** The engine of an agent that runs alone, without other agents. */
export const noEngine: Engine = {
  catalog: () => [],
  list: () => Promise.resolve([]),
  deliver: (to) => Promise.reject(nobody(to.agentName)),
  request: (to) => Promise.reject(nobody(to.agentName)),
};

function nobody(target: string): GoondanError {
  return new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${target}": this agent runs alone.`);
}
