/** What a test says a model answers, and how one wire format writes it. For tests only. */
import type { JsonObject } from '@goondan/types';

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  /** An opaque text the provider wants back with the call. */
  readonly signature?: string;
}

export interface WireReply {
  readonly reasoning?: { readonly text: string; readonly signature: string };
  /** Streamed in these pieces. */
  readonly text?: readonly string[];
  readonly calls?: readonly WireCall[];
  /** It ends at its limit of tokens; with calls, in the middle of the arguments of the last one. */
  readonly isTruncated?: boolean;
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number };
}

export interface WireDialect {
  /** Whether this request asks for a stream. */
  isStreaming(path: string, body: JsonObject): boolean;
  /** The events of a stream, in order, each the text after `data: ` or a whole event with its name. */
  events(reply: WireReply): string[];
  /** The body of an answer that is not streamed. */
  body(reply: WireReply): JsonObject;
  /** How an error looks, in the body of a refusal. */
  error(status: number, type: string, message: string): JsonObject;
  /** The event that tells of an error in the middle of a stream. */
  errorEvent(message: string): string;
}

/** The arguments of a call as text, half of them where the reply ends. */
export function argumentsText({ args }: WireCall, { calls = [], isTruncated = false }: WireReply): string {
  const text = JSON.stringify(args);
  const isCut = isTruncated && calls.at(-1)?.args === args;
  return isCut ? text.slice(0, Math.ceil(text.length / 2)) : text;
}

export function dataEvent(value: JsonObject | string): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}
