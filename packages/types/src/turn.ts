import type { AgentEvent } from './agent-event.ts';
import type { CodePlace } from './code-place.ts';
import type { Message } from './message.ts';
import type { ToolCallResult } from './tool.ts';

/** What every middleware and tool context carries. */
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

/** Why a turn failed. */
export interface TurnError {
  readonly message: string;
  readonly code?: string;
  readonly suggestion?: string;
  readonly helpUrl?: string;
  /** The extension whose layer threw, when one did. */
  readonly extension?: string;
  /** Where code of the bundle threw. Absent in the answers that other agents and connectors get. */
  readonly place?: CodePlace;
}

export interface TurnResult {
  readonly turnId: string;
  readonly responseMessage?: Message;
  readonly finishReason: 'text_response' | 'max_steps' | 'error';
  /** True when the last reply ended at a limit of tokens (`params.maxTokens`): the response is not whole. Absent otherwise. */
  readonly truncated?: boolean;
  readonly error?: TurnError;
}
