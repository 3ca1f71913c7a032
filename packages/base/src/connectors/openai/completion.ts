/** Formats answers as OpenAI chat completions. */
import type { ConnectorAnswer, TokenUsage } from '@goondan/types';
import type { QuestionCall } from './question-call.ts';

export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export function completion(head: CompletionHead, answer: ConnectorAnswer, content: string) {
  const { usage } = answer;
  const message = { role: 'assistant', content, refusal: null };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: reasonOf(answer) }],
    usage: usageOf(usage),
  };
}

/** Creates the response of a turn that asks the client. The usage is that of the whole turn, so its last response has it. */
export function questionCompletion(head: CompletionHead, calls: readonly QuestionCall[]) {
  const message = { role: 'assistant', content: null, refusal: null, tool_calls: calls };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }],
    usage: usageOf(noUsage),
  };
}

/** Creates the last chunks of a stream whose turn asks the client. */
export function questionChunks(head: CompletionHead, calls: readonly QuestionCall[], includesUsage: boolean) {
  const all = calls.map((call, index) => ({ index, ...call }));
  return [
    chunk(head, { tool_calls: all }, { includesUsage }),
    chunk(head, {}, { includesUsage, reason: 'tool_calls' }),
    ...(includesUsage ? [usageChunk(head, noUsage)] : []),
  ];
}

/**
 * Creates one chunk. If the client requested `usage`, the field is null in every chunk except the last. Otherwise the
 * field is absent.
 */
export function chunk(
  head: CompletionHead,
  delta: {
    readonly role?: 'assistant';
    readonly content?: string;
    readonly tool_calls?: readonly (QuestionCall & { readonly index: number })[];
  },
  options: { readonly answer?: ConnectorAnswer; readonly reason?: 'tool_calls'; readonly includesUsage: boolean },
) {
  const { answer, includesUsage } = options;
  const reason = answer === undefined ? (options.reason ?? null) : reasonOf(answer);
  return {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    ...(includesUsage ? { usage: null } : {}),
  };
}

/** Creates the final chunk, which carries the usage. */
export function usageChunk(head: CompletionHead, usage: TokenUsage) {
  return { ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(usage) };
}

const noUsage: TokenUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Returns `length` when a limit of tokens or of steps made the answer incomplete. */
function reasonOf({ finishReason, truncated }: ConnectorAnswer): 'stop' | 'length' {
  return truncated === true || finishReason === 'max_steps' ? 'length' : 'stop';
}

function usageOf({ inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens }: TokenUsage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    ...(cachedInputTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}
