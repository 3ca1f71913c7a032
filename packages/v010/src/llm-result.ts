/** Converts the reply of the model to the `LlmResult` of v0.10 and back. */
import type { AssistantPart, ModelFinishReason, ModelReply, TokenUsage } from '@goondan/types';
import { resultError } from './compat-error.ts';
import { textIn, toCallPart, toOldCalls } from './llm-messages.ts';
import type { LlmResult, OldToolCall } from './old-types.ts';

export function toLlmResult({ content, usage, finishReason, response }: ModelReply, messageId: string): LlmResult {
  const text = textIn(content);
  const toolCalls = toOldCalls(content);
  const { inputTokens, outputTokens, totalTokens } = usage;
  return {
    message: {
      id: messageId,
      role: 'assistant',
      ...(text === '' ? {} : { content: text }),
      ...(toolCalls.length === 0 ? {} : { toolCalls: structuredClone(toolCalls) }),
    },
    toolCalls,
    meta: {
      usage: { inputTokens, outputTokens, totalTokens },
      ...(response?.modelId === undefined ? {} : { model: response.modelId }),
      finishReason,
    },
  };
}

export function checkLlmResult(value: unknown, extension: string): LlmResult {
  const refuse = (problem: string) => resultError(extension, 'step.llmCall', problem);
  if (!isObject(value)) throw refuse(value === undefined ? 'it returned nothing' : 'it returned no LlmResult');
  const { message, toolCalls } = value;
  if (!isObject(message)) throw refuse('the LlmResult has no message');
  if (message.content !== undefined && typeof message.content !== 'string') {
    throw refuse('the content of the message is not a text');
  }
  const calls = toolCalls ?? message.toolCalls ?? [];
  if (!Array.isArray(calls)) throw refuse('toolCalls is not an array');
  for (const call of calls as unknown[]) {
    if (!isObject(call) || typeof call.id !== 'string' || typeof call.name !== 'string' || !isObject(call.args)) {
      throw refuse('a tool call has no id, name or args');
    }
  }
  // Safe: every field that is read was checked above.
  return { ...value, toolCalls: calls } as unknown as LlmResult;
}

/**
 * Returns the reply for a result. `reply`: the reply of the model, from which everything that v0.10 does not know is
 * taken, such as reasoning; `undefined` if a function answered instead of the model.
 */
export function toModelReply(result: LlmResult, reply: ModelReply | undefined): ModelReply {
  const content = toContent(result, reply?.content ?? []);
  const hasCalls = content.some((part) => part.type === 'tool-call');
  const reason = result.meta?.finishReason ?? reply?.finishReason;
  return {
    ...reply,
    content,
    finishReason:
      isFinishReason(reason) && (reason !== 'tool-calls' || hasCalls) ? reason : hasCalls ? 'tool-calls' : 'stop',
    usage: toUsage(result.meta?.usage, reply?.usage),
  };
}

function toContent({ message, toolCalls }: LlmResult, before: readonly AssistantPart[]): AssistantPart[] {
  const text = message.content ?? '';
  const parts = textIn(before) === text ? [...before] : withText(before, text);
  if (isSame(toOldCalls(before), toolCalls)) return parts;
  const others = parts.filter((part) => part.type !== 'tool-call' || part.providerExecuted === true);
  return [...others, ...toolCalls.map((call) => unchangedCall(before, call) ?? toCallPart(call))];
}

/** Puts the text where the first text was, or before the tool calls. */
function withText(before: readonly AssistantPart[], text: string): AssistantPart[] {
  const part: AssistantPart[] = text === '' ? [] : [{ type: 'text', text }];
  const first = before.findIndex(({ type }) => type === 'text' || type === 'tool-call');
  const index = first === -1 ? before.length : first;
  const rest = before.filter(({ type }) => type !== 'text');
  return [...rest.slice(0, index), ...part, ...rest.slice(index)];
}

function unchangedCall(before: readonly AssistantPart[], call: OldToolCall): AssistantPart | undefined {
  return before.find((part) => isSame(toOldCalls([part]), [call]));
}

function toUsage(given: Partial<TokenUsage> | undefined, before: TokenUsage | undefined): TokenUsage {
  const none = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const known = Object.entries(given ?? {}).filter(([, count]) => Number.isFinite(count));
  return { ...none, ...before, ...Object.fromEntries(known) };
}

const finishReasons: readonly string[] = [
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'other',
] satisfies ModelFinishReason[];

function isFinishReason(reason: string | undefined): reason is ModelFinishReason {
  return reason !== undefined && finishReasons.includes(reason);
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
