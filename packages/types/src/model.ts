/** One model call: its request, its stream and its reply. */
import type { JsonObject } from './json.ts';
import type { AssistantPart, ModelMessage } from './model-message.ts';
import type { ToolCatalogItem } from './tool.ts';

export interface TokenUsage {
  /** All tokens of the request, including those that the provider read from its cache or wrote to it. */
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** The input tokens that the provider read from its cache. */
  cachedInputTokens?: number;
  /** The input tokens that the provider wrote to its cache. */
  cacheWriteTokens?: number;
  reasoningTokens?: number;
}

/** Settings for the model call, all optional, passed to the provider unchanged. */
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

/** A complete reply. Middleware never gets a partial reply. */
export interface ModelReply {
  content: AssistantPart[];
  finishReason: ModelFinishReason;
  usage: TokenUsage;
  /** Information from the provider about this reply, for traces. */
  response?: { id?: string; modelId?: string };
}

/**
 * The kinds of failures of a model call:
 *
 * - `rate-limit`: too many requests (HTTP 429)
 * - `server`: the provider failed or is overloaded (HTTP 5xx)
 * - `timeout`: no answer in time, or HTTP 408
 * - `unreachable`: no connection
 * - `broken-off`: the reply is incomplete
 * - `format`: the reply is not in the provider's format
 * - `context`: the conversation is too long
 * - `auth`: the key is missing or not accepted
 * - `credit`: the account has no credit
 * - `not-found`: the provider does not know the model (HTTP 404)
 * - `refused`: the provider refused the request for another reason, such as HTTP 400
 */
export const modelFailures = [
  'rate-limit',
  'server',
  'timeout',
  'unreachable',
  'broken-off',
  'format',
  'context',
  'auth',
  'credit',
  'not-found',
  'refused',
] as const;

export type ModelFailure = (typeof modelFailures)[number];

/** A piece of a reply while the reply is being streamed. */
export type ModelDelta =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'reasoning'; readonly text: string };

/** A notice about a running turn, for its listeners. */
export type TurnDelta =
  | (ModelDelta & { readonly turnId: string; readonly stepId: string; readonly stepIndex: number })
  /** Tells listeners to discard the text streamed so far in this step: the step failed and is retried. */
  | { readonly type: 'discard'; readonly turnId: string; readonly stepId: string; readonly stepIndex: number };

/** A model call that an extension makes with `ctx.model.generate`. */
export interface GenerateRequest {
  /** The model to call, as `Model/name`; the agent's own model when absent. */
  modelRef?: string;
  messages: ModelMessage[];
  tools?: ToolCatalogItem[];
  params?: ModelParams;
}
