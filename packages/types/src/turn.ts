import type { AgentEvent } from './agent-event.ts';
import type { CodePlace } from './code-place.ts';
import type { JsonValue } from './json.ts';
import type { Message } from './message.ts';
import type { ToolCallResult } from './tool.ts';

/** The fields that every middleware context and tool context has. */
export interface ExecutionContext {
  readonly agentName: string;
  readonly instanceKey: string;
  readonly turnId: string;
  readonly traceId: string;
  /**
   * The name of the node where the turn ran before, if the turn has moved to another node of a cluster: the last one that
   * is not this node. It is set for the rest of the turn, also when the turn comes back to its first node. Files in
   * `workdir` and in the scratch folder may then be missing or old. Absent if only one node ran the turn.
   */
  readonly movedFrom?: string | undefined;
}

/** The running turn, as its steps see it. */
export interface Turn {
  readonly id: string;
  readonly agentName: string;
  readonly instanceKey: string;
  readonly inputEvent: AgentEvent;
  readonly startedAt: Date;
  /** The results so far, in the order in which the model requested the calls. */
  readonly toolResults: readonly ToolCallResult[];
}

/** The error of a failed turn. */
export interface TurnError {
  readonly message: string;
  readonly code?: string;
  readonly suggestion?: string;
  /** The address of a page about the error. */
  readonly helpUrl?: string;
  /** The extension whose layer threw the error, if any. */
  readonly extension?: string;
  /** The place in the bundle's code where the error was thrown. Absent in answers to other agents and to connectors. */
  readonly place?: CodePlace;
}

export interface TurnResult {
  readonly turnId: string;
  readonly responseMessage?: Message;
  readonly finishReason: 'text_response' | 'max_steps' | 'error';
  /**
   * True when the last reply reached a token limit (`params.maxTokens`), so that the response is incomplete. Absent
   * otherwise.
   */
  readonly truncated?: boolean;
  /**
   * The answer as JSON, if the event or the agent demanded a schema: the value in the text of `responseMessage`, which
   * fits the schema. Present when `finishReason` is `text_response`. The runtime sets this field after the last layer, so a
   * layer that changes the answer changes the message.
   */
  readonly output?: JsonValue;
  readonly error?: TurnError;
}
