/** Calling other agents, from `turn` and `step` layers and from tools. */

export interface AgentRequest {
  /** The agent's name in the swarm. */
  target: string;
  input?: string;
  /** The caller's own key when absent. */
  instanceKey?: string;
  /**
   * Milliseconds from the start of the callee's turn; `policy.requestTimeoutMs` when absent, 15 000 by default. The
   * deadline of the caller's own turn keeps counting.
   */
  timeoutMs?: number;
  /** JSON; arrives as the callee's `inputEvent.metadata`. */
  metadata?: Record<string, unknown>;
}

/** A type, because type checkers do not accept an interface as JSON: tools return it unchanged. */
export type AgentResponse = {
  target: string;
  response: string;
  /** True when the response reached a token limit and is incomplete; absent otherwise. */
  truncated?: boolean;
};

export type AgentSend = Omit<AgentRequest, 'timeoutMs'>;

/** One instance of an agent that has a process or a conversation. */
export interface AgentInstance {
  readonly agentName: string;
  readonly instanceKey: string;
  /** `waiting`: for a process, or for its restart. `asleep`: without a process, until the next input. */
  readonly status: 'working' | 'idle' | 'starting' | 'waiting' | 'does not start' | 'stopped' | 'asleep';
}

/** An agent of the swarm as the others see it. */
export interface AgentCard {
  readonly name: string;
  readonly description?: string;
}

export interface AgentsApi {
  /**
   * Asks another agent and waits for its answer.
   *
   * **Rules** — an effect: recorded when it completes, not repeated on resume.
   * **Errors** — `E_AGENT_UNKNOWN`, `E_AGENT_TIMEOUT`, `E_AGENT_CYCLE`, `E_AGENT_DEADLOCK`, `E_AGENT_DEPTH`,
   * `E_AGENT_FAILED`, `E_CALLS_FULL`, `E_INBOX_FULL`.
   *
   * @example const { response } = await ctx.agents.request({ target: 'retriever', input: 'tea', timeoutMs: 5_000 })
   */
  request(params: AgentRequest): Promise<AgentResponse>;

  /** Sends a message to another agent without waiting for an answer. Resolves when the message is accepted. */
  send(params: AgentSend): Promise<{ accepted: boolean }>;

  /** All agents of the swarm that can be asked, this one included. */
  catalog(): readonly AgentCard[];

  /** The present instances with a process or a conversation. Not recorded: a resumed turn may see another list. */
  list(): Promise<readonly AgentInstance[]>;
}

/** The name in the extension documents. */
export type MiddlewareAgentsApi = AgentsApi;
