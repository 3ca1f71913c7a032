/** Builds the reply from a provider's complete answer: its parts, the finish reason and the usage. */
import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import { GoondanError, type AssistantPart, type ModelReply, type TokenUsage } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import { soundUsage } from '../../../ports/token-usage.ts';

export interface ProviderAnswer {
  readonly content: readonly AssistantPart[];
  finishReason: LanguageModelV4FinishReason | undefined;
  usage: LanguageModelV4Usage | undefined;
  response: { id?: string | undefined; modelId?: string | undefined } | undefined;
}

/**
 * Builds the reply. **Errors** — `E_MODEL_FAILED`, retryable, for an incomplete answer, and for an empty answer with an
 * error or without a finish reason.
 */
export function toReply(answer: ProviderAnswer, label: string): ModelReply {
  const content = answer.content.filter(hasOwnMessage);
  const reason = answer.finishReason;
  if (reason === undefined || reason.unified === 'interrupted') {
    throw incomplete(`${label} stopped before its reply was complete.`);
  }
  if (content.length === 0 && (reason.unified === 'error' || reason.raw === undefined)) {
    throw incomplete(`${label} gave no reply (${reason.raw ?? 'and no reason'}).`);
  }
  return {
    content,
    finishReason: reason.unified,
    usage: toUsage(answer.usage),
    ...toResponse(answer.response),
  };
}

function hasOwnMessage(part: AssistantPart): boolean {
  const isWords = part.type === 'text' || part.type === 'reasoning';
  return !isWords || part.text !== '' || part.providerOptions !== undefined;
}

function incomplete(message: string): GoondanError {
  return new GoondanError('E_MODEL_FAILED', message, { retryable: true, failure: 'broken-off' });
}

function toUsage(usage: LanguageModelV4Usage | undefined): TokenUsage {
  return soundUsage({
    inputTokens: usage?.inputTokens.total ?? 0,
    outputTokens: usage?.outputTokens.total ?? 0,
    totalTokens: 0,
    ...defined({
      cachedInputTokens: usage?.inputTokens.cacheRead,
      cacheWriteTokens: usage?.inputTokens.cacheWrite,
      reasoningTokens: usage?.outputTokens.reasoning,
    }),
  });
}

function toResponse(response: ProviderAnswer['response']): Pick<ModelReply, 'response'> {
  if (response?.id === undefined && response?.modelId === undefined) return {};
  const { id, modelId } = response;
  return { response: { ...(id !== undefined && { id }), ...(modelId !== undefined && { modelId }) } };
}
