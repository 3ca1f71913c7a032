/** Calling other agents, from `turn` and `step` layers and from tools. */

export interface AgentRequest {
  /** The agent's name in the swarm. */
  target: string;
  input?: string;
  /** The caller's own key when absent. */
  instanceKey?: string;
  /**
   * Counted from the start of the callee's turn; `policy.requestTimeoutMs` when absent, which is 15 000 unless set. The
   * caller's own turn goes on counting.
   */
  timeoutMs?: number;
  /** JSON; arrives as the callee's `inputEvent.metadata`. */
  metadata?: Record<string, unknown>;
}

/** Not an interface, which no type checker takes for JSON: tools return it as it is. */
export type AgentResponse = {
  target: string;
  response: string;
  /** True when the response ended at a limit of tokens and is not whole; absent otherwise. */
  truncated?: boolean;
};

export type AgentSend = Omit<AgentRequest, 'timeoutMs'>;

/** One instance of an agent that has a process or a conversation. */
export interface AgentInstance {
  readonly agentName: string;
  readonly instanceKey: string;
  /** `waiting`: for a process, or for its restart. `asleep`: without a process, until somebody writes to it. */
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

  /** Leaves a message with another agent and does not wait. Resolves when the message is accepted. */
  send(params: AgentSend): Promise<{ accepted: boolean }>;

  /** Everyone in the swarm who can be asked, this agent included. */
  catalog(): readonly AgentCard[];

  /** The instances that run or have a conversation, now. Not recorded: a resumed turn may see another list. */
  list(): Promise<readonly AgentInstance[]>;
}

/** The name the extension documents use. */
export type MiddlewareAgentsApi = AgentsApi;
