import type { Message, MessageSource, ModelMessage, TokenUsage, TurnError, TurnResult } from '@goondan/types';
import { codePlace } from './code-place.ts';
import {
  type Check,
  date,
  type FieldsOf,
  flag,
  json,
  jsonObject,
  listOf,
  ShapeError,
  name,
  number,
  object,
  oneByField,
  oneOf,
  optional,
  text,
} from './shape.ts';

export const tokenUsage: Check<TokenUsage> = object({
  inputTokens: number,
  outputTokens: number,
  totalTokens: number,
  cachedInputTokens: optional(number),
  cacheWriteTokens: optional(number),
  reasoningTokens: optional(number),
} satisfies FieldsOf<TokenUsage>);

const messageSource: Check<MessageSource> = oneByField('type', {
  user: () => ({}),
  assistant: () => ({ stepId: text }),
  tool: () => ({ toolCallId: name, toolName: name }),
  system: () => ({}),
  extension: () => ({ extensionName: name }),
} satisfies Record<MessageSource['type'], unknown>);

const withRole = object({ role: oneOf('system', 'user', 'assistant', 'tool') });
const parts = object({ content: listOf(object({ type: name })) });

/** Checks role and parts. The contents of a part are checked later, when the conversation stores the message. */
const modelMessage: Check<ModelMessage> = (value) => {
  const data = jsonObject(value);
  const { role } = withRole(data);
  if (typeof data.content !== 'string') parts(data);
  else if (role === 'tool') throw new ShapeError('is a text, not a list', 'content');
  // Safe: role and content were just checked, and the whole value is JSON.
  return data as unknown as ModelMessage;
};

const message: Check<Message> = object({
  id: name,
  data: modelMessage,
  metadata: jsonObject,
  createdAt: date,
  source: messageSource,
  lifetime: optional(oneOf('step', 'turn')),
} satisfies FieldsOf<Message>);

export const finishReason: Check<TurnResult['finishReason']> = oneOf('text_response', 'max_steps', 'error');

export const turnError: Check<TurnError> = object({
  message: text,
  code: optional(text),
  suggestion: optional(text),
  helpUrl: optional(text),
  extension: optional(text),
  place: optional(codePlace),
} satisfies FieldsOf<TurnError>);

export const turnResult: Check<TurnResult> = object({
  turnId: name,
  responseMessage: optional(message),
  finishReason,
  truncated: optional(flag),
  output: optional(json),
  error: optional(turnError),
} satisfies FieldsOf<TurnResult>);
