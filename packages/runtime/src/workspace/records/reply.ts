/**
 * An answer that a caller waits for. It is added to the outbox when the turn is committed, and kept until the caller
 * acknowledges it.
 */
import type { JsonValue, ReplyAddress, TurnResult } from '@goondan/types';
import { reviveMessage, type StoredMessage } from '../../messages/message-text.ts';

export function encodeReply(reply: { readonly replyTo: ReplyAddress; readonly result: TurnResult }): JsonValue {
  // Safe: results are JSON except for the date of the message, which becomes a string here.
  return JSON.parse(JSON.stringify(reply)) as JsonValue;
}

/** Returns `undefined` if the outbox entry is not an answer to a caller. */
export function decodeReply(
  value: JsonValue,
): { readonly replyTo: ReplyAddress; readonly result: TurnResult } | undefined {
  if (!value || typeof value !== 'object' || !('replyTo' in value) || !('result' in value)) return undefined;
  // Safe: only encodeReply makes values with these two fields.
  const { replyTo, result } = value as unknown as { replyTo: ReplyAddress; result: WholeResult };
  return { replyTo, result: reviveResult(result) };
}

/** A result as JSON, with its whole message. */
export type WholeResult = Omit<TurnResult, 'responseMessage'> & { readonly responseMessage?: StoredMessage };

export function reviveResult({ responseMessage, ...rest }: WholeResult): TurnResult {
  return { ...rest, ...(responseMessage && { responseMessage: reviveMessage(responseMessage) }) };
}
