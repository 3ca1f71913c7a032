import type { AgentEvent } from './agent-event.ts';
import type { CodePlace } from './code-place.ts';
import type { Message } from './message.ts';
import type { ToolCallResult } from './tool.ts';

/** The fields of every middleware and tool context. */
export interface ExecutionContext {
  readonly agentName: string;
  readonly instanceKey: string;
  readonly turnId: string;
  readonly traceId: string;
}

/** The running turn, as steps see it. */
export interface Turn {
  readonly id: string;
  readonly agentName: string;
  readonly instanceKey: string;
  readonly inputEvent: AgentEvent;
  readonly startedAt: Date;
  /** Results so far, in the order the model asked for them. */
  readonly toolResults: readonly ToolCallResult[];
}

/** The error of a failed turn. */
export interface TurnError {
  readonly message: string;
  readonly code?: string;
  readonly suggestion?: string;
  readonly helpUrl?: string;
  /** The extension whose layer threw, if any. */
  readonly extension?: string;
  /** The place where code of the bundle threw. Absent in answers for other agents and connectors. */
  readonly place?: CodePlace;
}

export interface TurnResult {
  readonly turnId: string;
  readonly responseMessage?: Message;
  readonly finishReason: 'text_response' | 'max_steps' | 'error';
  /**
   * True when the last reply reached a token limit (`params.maxTokens`): the response is incomplete. Absent otherwise.
   */
  readonly truncated?: boolean;
  readonly error?: TurnError;
}
