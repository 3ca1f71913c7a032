/** The API with which `turn` layers, `step` layers and tools call other agents. */
import type { JsonValue } from './json.ts';
import type { ContentPart } from './model-message.ts';
import type { TypedDemand } from './output.ts';

export interface AgentRequest<Output = JsonValue> {
  /** The name of the agent to call. */
  target: string;
  input?: string;
  /** Images, files and further text, after `input`. References are passed on; the bytes are not copied. */
  content?: readonly ContentPart[];
  /** The names of images and files of this conversation to send along. */
  files?: readonly string[];
  /** The instance key of the instance to call; the caller's own instance key when absent. */
  instanceKey?: string;
  /**
   * The time limit for the answer in milliseconds, counted from the call, whatever the callee does;
   * `policy.requestTimeoutMs` (15 000 by default) when absent. It is paused while the callee waits for a person.
   * Meanwhile, the deadline of the caller's own turn keeps running.
   */
  timeoutMs?: number;
  /** JSON that the called agent gets as `inputEvent.metadata`. */
  metadata?: Record<string, unknown>;
  /** The demand for an answer that fits a JSON Schema. It wins over the `output` of the called agent. */
  output?: TypedDemand<Output>;
}

/**
 * The answer of another agent. This is a type alias and not an interface, because tools return this value unchanged,
 * and TypeScript does not accept an interface as JSON.
 */
export type AgentResponse<Output = JsonValue> = {
  target: string;
  response: string;
  /** True when the response reached a token limit and is incomplete; absent otherwise. */
  truncated?: boolean;
  /** The answer as JSON, if the request or the called agent demanded a schema; absent otherwise. */
  output?: Output;
};

/** A message that nobody waits for: it has no time limit, and demands no answer. */
export type AgentSend = Omit<AgentRequest, 'timeoutMs' | 'output'>;

/** An agent instance that has a process, a conversation, or both. */
export interface AgentInstance {
  readonly agentName: string;
  readonly instanceKey: string;
  /** `waiting`: waits for a process, or for a restart of its process. `asleep`: has no process until the next input. */
  readonly status: 'working' | 'idle' | 'starting' | 'waiting' | 'does not start' | 'stopped' | 'asleep';
}

/** An agent of the swarm, as other agents see it. */
export interface AgentCard {
  readonly name: string;
  readonly description?: string;
}

export interface AgentsApi {
  /**
   * Asks another agent and waits for its answer.
   *
   * **Rules** — the request is an effect: it is recorded when it completes, and a resumed turn does not repeat it.
   * **Errors** — `E_AGENT_UNKNOWN`, `E_AGENT_NOT_ALLOWED`, `E_AGENT_TIMEOUT`, `E_AGENT_CYCLE`, `E_AGENT_DEADLOCK`, `E_AGENT_DEPTH`,
   * `E_AGENT_FAILED`, `E_CALLS_FULL`, `E_INBOX_FULL`, `E_FILE_INVALID`, `E_FILE_SIZE`, `E_FILE_UNKNOWN`. With `output` also
   * `E_OUTPUT_INVALID` when the schema cannot be used, and `E_OUTPUT_SCHEMA` when the schema library refuses the answer.
   *
   * @example const { response } = await ctx.agents.request({ target: 'retriever', input: 'tea', timeoutMs: 5_000 })
   */
  request<Output = JsonValue>(params: AgentRequest<Output>): Promise<AgentResponse<Output>>;

  /** Sends a message to another agent without waiting for an answer. Resolves when the message is accepted. */
  send(params: AgentSend): Promise<{ accepted: boolean }>;

  /** Returns the agents that this agent may call: those of `mayAsk`, or all agents of the swarm, including this one. */
  catalog(): readonly AgentCard[];

  /**
   * Returns the instances of these agents that now have a process or a conversation. The result is not recorded, so a resumed turn may
   * get a different list.
   */
  list(): Promise<readonly AgentInstance[]>;
}

/** The name that the extension documentation uses for `AgentsApi`. */
export type MiddlewareAgentsApi = AgentsApi;
