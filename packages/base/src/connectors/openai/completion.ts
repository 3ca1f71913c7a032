/** Answers in the form of OpenAI's chat completions. */
import type { ConnectorAnswer, TokenUsage } from '@goondan/types';

export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export function completion(head: CompletionHead, answer: ConnectorAnswer) {
  const { response, usage } = answer;
  const message = { role: 'assistant', content: response, refusal: null };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: reasonOf(answer) }],
    usage: usageOf(usage),
  };
}

/** Makes one piece. When the client asked for `usage`, it is null in every piece but the last; otherwise absent. */
export function chunk(
  head: CompletionHead,
  delta: { readonly role?: 'assistant'; readonly content?: string },
  options: { readonly answer?: ConnectorAnswer; readonly includesUsage: boolean },
) {
  const { answer, includesUsage } = options;
  const reason = answer === undefined ? null : reasonOf(answer);
  return {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    ...(includesUsage ? { usage: null } : {}),
  };
}

/** Makes the piece after the last one. */
export function usageChunk(head: CompletionHead, usage: TokenUsage) {
  return { ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(usage) };
}

/** Both limits, of tokens and of steps, are `length`: the answer is incomplete. */
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
