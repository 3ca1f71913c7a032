/** Calling other agents, from `turn` and `step` layers and from tools. */

export interface AgentRequest {
  /** The agent's name in the swarm. */
  target: string;
  input?: string;
  /** The caller's own key when absent. */
  instanceKey?: string;
  /** 15 000 when absent. */
  timeoutMs?: number;
  /** JSON; arrives as the callee's `inputEvent.metadata`. */
  metadata?: Record<string, unknown>;
}

export type AgentSend = Omit<AgentRequest, 'timeoutMs'>;

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
  request(params: AgentRequest): Promise<{ target: string; response: string }>;

  /** Leaves a message with another agent and does not wait. Resolves when the message is accepted. */
  send(params: AgentSend): Promise<{ accepted: boolean }>;
}

/** The name the extension documents use. */
export type MiddlewareAgentsApi = AgentsApi;
