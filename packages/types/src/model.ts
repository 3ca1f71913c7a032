/** One model call: its request, its stream and its reply. */
import type { JsonObject } from './json.ts';
import type { AssistantPart, ModelMessage } from './model-message.ts';
import type { ToolCatalogItem } from './tool.ts';

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  cachedInputTokens?: number;
  reasoningTokens?: number;
}

/** Sampling settings, all optional, passed to the provider unchanged. */
export interface ModelParams {
  temperature?: number;
  maxTokens?: number;
  topP?: number;
  topK?: number;
  stopSequences?: string[];
  seed?: number;
  providerOptions?: Record<string, JsonObject>;
}

export type ModelFinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other';

/** The finished reply: middleware never sees an incomplete one. */
export interface ModelReply {
  content: AssistantPart[];
  finishReason: ModelFinishReason;
  usage: TokenUsage;
  /** The provider's information about this reply, for traces. */
  response?: { id?: string; modelId?: string };
}

/** A piece of a reply while it is being written. */
export type ModelDelta =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'reasoning'; readonly text: string };

/** A notice for listeners of a running turn. */
export type TurnDelta =
  | (ModelDelta & { readonly turnId: string; readonly stepId: string; readonly stepIndex: number })
  /** The streamed text of this step so far does not count: the step failed and is tried again. */
  | { readonly type: 'discard'; readonly turnId: string; readonly stepId: string; readonly stepIndex: number };

/** A model call of an extension: `ctx.model.generate`. */
export interface GenerateRequest {
  /** `Model/name`; the agent's own model when absent. */
  modelRef?: string;
  messages: ModelMessage[];
  tools?: ToolCatalogItem[];
  params?: ModelParams;
}
