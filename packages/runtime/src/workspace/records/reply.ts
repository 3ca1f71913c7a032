/**
 * An answer that a caller waits for. It is added to the outbox when the turn is committed, and kept until the caller
 * acknowledges it.
 */
import type { JsonValue, ReplyAddress, TokenUsage, TurnResult } from '@goondan/types';
import { reviveMessage, type StoredMessage } from '../../messages/message-text.ts';

export interface Reply {
  readonly replyTo: ReplyAddress;
  readonly result: TurnResult;
  /** The tokens of the turn, and of the agents that it called. Absent if they used none. */
  readonly usage?: TokenUsage;
}

export function encodeReply(reply: Reply): JsonValue {
  // Safe: results are JSON except for the date of the message, which becomes a string here.
  return JSON.parse(JSON.stringify(reply)) as JsonValue;
}

/** Returns `undefined` if the outbox entry is not an answer to a caller. */
export function decodeReply(value: JsonValue): Reply | undefined {
  if (!value || typeof value !== 'object' || !('replyTo' in value) || !('result' in value)) return undefined;
  // Safe: only encodeReply makes values with these fields.
  const { result, ...rest } = value as unknown as Omit<Reply, 'result'> & { result: WholeResult };
  return { ...rest, result: reviveResult(result) };
}

/** Returns the answer without its caller. */
export function answerOf(eventId: string, { result, usage }: Reply) {
  return { eventId, result, ...(usage && { usage }) };
}

/** A result as JSON, with its whole message. */
export type WholeResult = Omit<TurnResult, 'responseMessage'> & { readonly responseMessage?: StoredMessage };

export function reviveResult({ responseMessage, ...rest }: WholeResult): TurnResult {
  return { ...rest, ...(responseMessage && { responseMessage: reviveMessage(responseMessage) }) };
}
