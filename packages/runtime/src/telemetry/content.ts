/**
 * Converts the contents of messages and calls to the format of OpenTelemetry's GenAI conventions: messages with parts,
 * as JSON in one attribute. Contents are included only if the operator enables them. Secrets are masked before long
 * values are cut, and a cut value is still JSON. All functions are pure.
 */
import type { ModelReply, ToolCallResult, TurnResult } from '@goondan/types';
import { isPlainObject, type PlainObject } from '../json/copy-json.ts';
import { shortenMasked } from '../log/shorten-masked.ts';
import type { Mask } from '../log/mask-secrets.ts';
import type { Attributes } from './otlp.ts';

/**
 * The maximum number of characters of one text (the beginning is kept), of one list of messages (the newest are kept),
 * and of one value.
 */
const LONGEST_TEXT = 4_000;
const LONGEST_LIST = 32_000;
const LONGEST_VALUE = 8_000;
/** The maximum number of parts of one message; the last parts are kept. */
const MOST_PARTS = 32;

export function contentOfModelCall({ messages }: PlainObject, reply: unknown, mask: Mask): Attributes {
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const isSystem = (message: unknown) => isPlainObject(message) && message['role'] === 'system';
  const system = list.filter(isSystem);
  const said = list.filter((message) => !isSystem(message));
  const instruction = (message: unknown) =>
    partsOf(message, mask)
      .map((part) => JSON.stringify(part))
      .join(',');
  return {
    'gen_ai.input.messages': newest(said, (message) => toMessage(message, mask)),
    ...(system.length === 0 ? {} : { 'gen_ai.system_instructions': newest(system, instruction) }),
    // Safe: the chain has checked that it is a reply.
    ...(reply === undefined ? {} : replyContent(reply as ModelReply, mask)),
  };
}

export function contentOfToolCall({ args }: PlainObject, result: unknown, mask: Mask): Attributes {
  const shorten = shortenMasked(mask);
  // Safe: the chain has checked that it is a result.
  const { status, output, error } = (result ?? {}) as Partial<ToolCallResult>;
  const answer = status === 'error' ? error : output;
  return {
    'gen_ai.tool.call.arguments': shorten(args ?? {}, LONGEST_VALUE),
    ...(answer === undefined ? {} : { 'gen_ai.tool.call.result': shorten(answer, LONGEST_VALUE) }),
  };
}

/** Returns the input and the response of a turn. */
export function contentOfTurn(
  input: string | undefined,
  { responseMessage, finishReason, truncated }: TurnResult,
  mask: Mask,
): Attributes {
  const response = responseMessage?.data;
  const stopped = truncated === true ? 'length' : 'stop';
  const ended = finishReason === 'text_response' ? stopped : finishReason;
  return {
    ...(input === undefined
      ? {}
      : { 'gen_ai.input.messages': `[${toMessage({ role: 'user', content: input }, mask)}]` }),
    ...(response === undefined ? {} : { 'gen_ai.output.messages': outputText(response, ended, mask) }),
  };
}

function replyContent({ content, finishReason }: ModelReply, mask: Mask): Attributes {
  const ended = finishReason === 'tool-calls' ? 'tool_call' : finishReason.replaceAll('-', '_');
  return { 'gen_ai.output.messages': outputText({ content }, ended, mask) };
}

/** Returns an output message as JSON, with its finish reason. */
function outputText(message: unknown, finishReason: string, mask: Mask): string {
  return JSON.stringify([{ role: 'assistant', parts: partsOf(message, mask), finish_reason: finishReason }]);
}

function toMessage(message: unknown, mask: Mask): string {
  const role = isPlainObject(message) && typeof message['role'] === 'string' ? message['role'] : 'user';
  return JSON.stringify({ role, parts: partsOf(message, mask) });
}

function partsOf(message: unknown, mask: Mask): PlainObject[] {
  const content = isPlainObject(message) ? message['content'] : undefined;
  if (typeof content === 'string') return [textPart('text', content, mask)];
  return Array.isArray(content) ? content.slice(-MOST_PARTS).map((part) => toPart(part, mask)) : [];
}

function toPart(part: unknown, mask: Mask): PlainObject {
  if (!isPlainObject(part)) return { type: 'unknown' };
  const shorten = (value: unknown) => shortenMasked(mask)(value, LONGEST_TEXT);
  const { type, text, toolCallId: id, toolName: name, input, output } = part;
  switch (type) {
    case 'text':
    case 'reasoning':
      return textPart(type, text, mask);
    case 'tool-call':
      return { type: 'tool_call', id: shorten(id), name: shorten(name), arguments: toJson(input, mask) };
    case 'tool-result':
      return { type: 'tool_call_response', id: shorten(id), response: toJson(resultOf(output), mask) };
    default:
      // The data of pictures and files is not sent, only their type.
      return { type: typeof type === 'string' ? mask(type).slice(0, 40) : 'unknown' };
  }
}

/**
 * Converts a value to JSON. If the value has to be cut, returns it as a text, because a part of an object is not valid
 * JSON.
 */
function toJson(value: unknown, mask: Mask): unknown {
  const text = shortenMasked(mask)(value, LONGEST_TEXT);
  if (typeof value !== 'object') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function resultOf(output: unknown): unknown {
  return isPlainObject(output) && 'value' in output ? output['value'] : output;
}

function textPart(type: string, text: unknown, mask: Mask): PlainObject {
  return { type, content: shortenMasked(mask)(text, LONGEST_TEXT) };
}

/** Returns a JSON list of the last items, as many as fit. Earlier items are not converted. */
function newest(items: readonly unknown[], toText: (item: unknown) => string): string {
  let length = 0;
  const kept: string[] = [];
  for (const item of items.toReversed()) {
    const text = toText(item);
    length += text.length + 1;
    if (length > LONGEST_LIST && kept.length > 0) break;
    kept.unshift(text);
  }
  return `[${kept.join(',')}]`;
}
