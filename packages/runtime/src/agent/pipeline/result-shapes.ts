/**
 * Reads the results of each kind of chain. A layer's result is untrusted data until one of these functions has
 * returned it as a result. An unknown field is dropped and reported: it must not undo the call or the turn that is done.
 */
import type { GoondanError, ModelReply, StepResult, ToolCallResult, TurnError, TurnResult } from '@goondan/types';
import { dropUnknownFields, knownFields } from '../../config/find-unknown-field.ts';
import { copyJson, isJson, isPlainObject, NotJson } from '../../json/copy-json.ts';
import { problemWithSource } from '../conversation/check-message-event.ts';
import { problemWithModelMessage } from '../conversation/model-message-problem.ts';
import { NotResult, type ResultReader } from './onion.ts';

const turnFields = knownFields<TurnResult>(
  'a turn result',
  { turnId: true, responseMessage: true, finishReason: true, truncated: true, output: true, error: true },
  { message: 'responseMessage', response: 'responseMessage', status: 'finishReason' },
);
const stepFields = knownFields<StepResult>(
  'a step result',
  { status: true, hasToolCalls: true, toolCalls: true, toolResults: true, metadata: true },
  { shouldContinue: 'hasToolCalls', continue: 'hasToolCalls', finishReason: 'metadata' },
);
const callFields = knownFields<ToolCallResult>(
  'a toolCall result',
  { toolCallId: true, toolName: true, output: true, status: true, error: true },
  { result: 'output', content: 'output', isError: 'status' },
);
const replyFields = knownFields<ModelReply>(
  'a model result',
  { content: true, finishReason: true, usage: true, response: true },
  { text: 'content', message: 'content', toolCalls: 'content' },
);
/** Includes the fields of thrown errors, because a layer may copy an error that it caught. */
const errorFields = knownFields<TurnError & GoondanError>('an error', {
  message: true,
  code: true,
  suggestion: true,
  helpUrl: true,
  extension: true,
  place: true,
  name: true,
  stack: true,
  cause: true,
  retryable: true,
  retryAfterMs: true,
  failure: true,
  isFallback: true,
});

export function readTurnResult(value: unknown, reader: ResultReader): TurnResult {
  const problem = problemWithTurnResult(value);
  if (problem !== undefined) throw new NotResult(problem);
  // Safe: the shape was just checked.
  const result = dropUnknownFields(value as TurnResult, turnFields, reader);
  const { error } = result;
  // An `Error` object may have fields of its own.
  if (error === undefined || error instanceof Error) return result;
  const known = dropUnknownFields(error, errorFields, reader);
  return known === error ? result : { ...result, error: known };
}

export function readStepResult(value: unknown, reader: ResultReader): StepResult {
  const problem = problemWithStepResult(value);
  if (problem !== undefined) throw new NotResult(problem);
  // Safe: the shape was just checked.
  return dropUnknownFields(value as StepResult, stepFields, reader);
}

/** Checks that the result has the id and the tool name of the call. */
export function readToolCallResult(
  value: unknown,
  toolCallId: string,
  toolName: string,
  reader: ResultReader,
): ToolCallResult {
  const problem = problemWithToolCallResult(value, toolCallId, toolName);
  if (problem !== undefined) throw new NotResult(problem);
  // Safe: the shape was just checked.
  return withReason(dropUnknownFields(value as ToolCallResult, callFields, reader));
}

/** Fills in the message of an error: the model reads it. */
function withReason(result: ToolCallResult): ToolCallResult {
  const { status, toolName, error } = result;
  if (error === undefined ? status === 'ok' : error.message !== undefined) return result;
  return { ...result, error: { ...error, message: `"${toolName}" failed without giving a reason.` } };
}

export function readModelReply(value: unknown, reader: ResultReader): ModelReply {
  const problem = problemWithModelReply(value);
  if (problem !== undefined) throw new NotResult(problem);
  // Safe: the shape was just checked.
  return dropUnknownFields(value as ModelReply, replyFields, reader);
}

function problemWithTurnResult(value: unknown): string | undefined {
  if (!isPlainObject(value)) return notPlain(value);
  const { turnId, finishReason, responseMessage, truncated, output, error } = value as Partial<TurnResult>;
  if (typeof turnId !== 'string') return 'turnId is not a string';
  if (finishReason !== 'text_response' && finishReason !== 'max_steps' && finishReason !== 'error') {
    return `finishReason is not one of text_response, max_steps, error`;
  }
  if (truncated !== undefined && typeof truncated !== 'boolean') return 'truncated is not a boolean';
  const message = responseMessage === undefined ? undefined : problemWithMessage(responseMessage);
  if (message !== undefined) return message;
  if (error !== undefined && (!isObject(error) || typeof error.message !== 'string')) return 'error has no message';
  return problemWithJson('output', output);
}

function problemWithStepResult(value: unknown): string | undefined {
  if (!isPlainObject(value)) return notPlain(value);
  const { status, hasToolCalls, toolCalls, toolResults, metadata } = value as Partial<StepResult>;
  if (status !== 'completed' && status !== 'failed') return 'status is neither completed nor failed';
  if (typeof hasToolCalls !== 'boolean') return 'hasToolCalls is not a boolean';
  if (!Array.isArray(toolCalls)) return 'toolCalls is not an array';
  if (!Array.isArray(toolResults)) return 'toolResults is not an array';
  if (!isPlainObject(metadata)) return 'metadata is not an object';
  return problemWithJson('metadata', metadata);
}

function problemWithToolCallResult(value: unknown, toolCallId: string, toolName: string): string | undefined {
  if (!isPlainObject(value)) return notPlain(value);
  const { status, error } = value as Partial<ToolCallResult>;
  if (value.toolCallId !== toolCallId) return `toolCallId is not "${toolCallId}"`;
  if (value.toolName !== toolName) return `toolName is not "${toolName}"`;
  if (status !== 'ok' && status !== 'error') return 'status is neither ok nor error';
  if (error !== undefined && !isObject(error)) return 'error is not an object';
  if (error?.message !== undefined && typeof error.message !== 'string') return 'error.message is not a string';
  // The model gets all fields of the error, so none of them is lost.
  return problemWithJson('output', value.output) ?? problemWithJson('error', error);
}

function problemWithModelReply(value: unknown): string | undefined {
  if (!isPlainObject(value)) return notPlain(value);
  if (!Array.isArray(value.content)) return 'content is not an array of parts';
  const called = new Set<string>();
  for (const part of value.content as unknown[]) {
    if (!isPlainObject(part) || typeof part.type !== 'string') return 'a part of content has no type';
    if ((part.type === 'text' || part.type === 'reasoning') && typeof part.text !== 'string') {
      return `a ${part.type} part has no text`;
    }
    if (part.type !== 'tool-call') continue;
    if (typeof part.toolCallId !== 'string' || part.toolCallId === '') return 'a tool call has no toolCallId';
    if (typeof part.toolName !== 'string' || part.toolName === '') return 'a tool call has no toolName';
    if (called.has(part.toolCallId)) return `two tool calls have the id "${part.toolCallId}"`;
    called.add(part.toolCallId);
  }
  if (typeof value.finishReason !== 'string') return 'finishReason is not a string';
  if (!isPlainObject(value.usage)) return 'usage is missing';
  for (const field of ['inputTokens', 'outputTokens', 'totalTokens']) {
    if (!Number.isFinite(value.usage[field])) return `usage.${field} is not a number`;
  }
  return problemWithJson('content', value.content);
}

function problemWithMessage(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'responseMessage is not a message';
  const { createdAt, ...others } = value;
  if (typeof value.id !== 'string' || value.id === '') return 'responseMessage.id is not a text';
  if (!(createdAt instanceof Date) || Number.isNaN(createdAt.getTime())) {
    return 'responseMessage.createdAt is not a valid Date';
  }
  if (!isPlainObject(value.metadata)) return 'responseMessage.metadata is not an object';
  return (
    problemWithModelMessage(value.data, 'responseMessage.data') ??
    problemWithSource(value.source, 'responseMessage.source') ??
    problemWithJson('responseMessage', others)
  );
}

/** Checks that a field is JSON or absent, because it will be recorded. */
function problemWithJson(field: string, value: unknown): string | undefined {
  if (value === undefined || isJson(value, true, 1)) return undefined;
  try {
    copyJson({ [field]: value }, { omitUndefined: true });
    return undefined;
  } catch (error) {
    if (error instanceof NotJson) return error.message;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Inherited fields are rejected too: copies of a result would not have them. */
function notPlain(value: unknown): string {
  if (value === undefined) return 'it returned nothing';
  if (value === null) return 'it is null';
  if (typeof value !== 'object') return `it is a ${typeof value}`;
  return Array.isArray(value) ? 'it is an array' : 'it is not a plain object; return `{ ...result }` with your changes';
}
