/** One model call: what goes in, what streams out, what comes back. */
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

/** Sampling settings; every one optional, every one handed to the provider as it is. */
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

/** The finished reply: middleware never sees a half one. */
export interface ModelReply {
  content: AssistantPart[];
  finishReason: ModelFinishReason;
  usage: TokenUsage;
  /** What the provider says about this reply, for traces. */
  response?: { id?: string; modelId?: string };
}

/** A piece of a reply while it is being written. */
export type ModelDelta =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'reasoning'; readonly text: string };

/** What listeners of a turn receive while it runs. */
export type TurnDelta =
  | (ModelDelta & { readonly turnId: string; readonly stepId: string; readonly stepIndex: number })
  /** What this step has streamed so far does not count: the step failed and is tried again. */
  | { readonly type: 'discard'; readonly turnId: string; readonly stepId: string; readonly stepIndex: number };

/** A model call of an extension's own: `ctx.model.generate`. */
export interface GenerateRequest {
  /** `Model/name`; the agent's own model when absent. */
  modelRef?: string;
  messages: ModelMessage[];
  tools?: ToolCatalogItem[];
  params?: ModelParams;
}
