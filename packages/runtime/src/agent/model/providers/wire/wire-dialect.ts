/** A reply as a test defines it, and the interface of a wire format that encodes it. For tests only. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../../json/copy-json.ts';

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** An opaque text that must be sent back to the provider together with the call. */
  readonly signature?: string;
}

export interface WireReply {
  readonly reasoning?: { readonly text: string; readonly signature: string };
  /** The text, in the pieces in which it is streamed. */
  readonly text?: readonly string[];
  readonly calls?: readonly WireCall[];
  /** If true, the reply reaches its token limit. With tool calls, it ends inside the arguments of the last call. */
  readonly isTruncated?: boolean;
  /** `input` includes `cached` and `written`. Only Anthropic reports tokens that were written to the cache. */
  readonly usage: {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
    readonly written?: number;
  };
}

export interface WireDialect {
  /** Returns true if this request asks for a stream. */
  isStreaming(path: string, body: JsonObject): boolean;
  /** Returns the names of the tools that a request offers. */
  toolNames(body: JsonObject): unknown[];
  /**
   * Returns the events of a stream, in order. Each text is either the part after `data: `, or a whole event with its
   * name.
   */
  events(reply: WireReply): string[];
  /** Returns the body of an answer that is not streamed. */
  body(reply: WireReply): JsonObject;
  /** Returns the body of a rejection with this error. */
  error(status: number, type: string, message: string): JsonObject;
  /** Returns the event that reports an error in the middle of a stream. */
  errorEvent(message: string): string;
}

/** Returns the arguments of a call as text; only the first half for the last call of a truncated reply. */
export function argumentsText({ args }: WireCall, { calls = [], isTruncated = false }: WireReply): string {
  const text = JSON.stringify(args);
  const isCut = isTruncated && calls.at(-1)?.args === args;
  return isCut ? text.slice(0, Math.ceil(text.length / 2)) : text;
}

/** Returns the objects of a list in a body; none if there is no list. */
export function objectsIn(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter((each): each is JsonObject => isPlainObject(each)) : [];
}

export function dataEvent(value: JsonObject | string): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}
