/** An answer somebody waits for: put into the outbox when the turn commits, there until it is acknowledged. */
import type { JsonValue, ReplyAddress, TurnResult } from '@goondan/types';
import { reviveMessage, type StoredMessage } from '../../messages/message-text.ts';

export interface Reply {
  readonly replyTo: ReplyAddress;
  readonly result: TurnResult;
}

export function encodeReply(reply: Reply): JsonValue {
  // Results are JSON but for the date of the message, which becomes a string here.
  return JSON.parse(JSON.stringify(reply)) as JsonValue;
}

/** `undefined` for an entry of the outbox that is something else. */
export function decodeReply(value: JsonValue): Reply | undefined {
  if (!value || typeof value !== 'object' || !('replyTo' in value) || !('result' in value)) return undefined;
  // Made by encodeReply: nothing else puts these two together.
  const { replyTo, result } = value as unknown as {
    replyTo: ReplyAddress;
    result: Omit<TurnResult, 'responseMessage'> & { responseMessage?: StoredMessage };
  };
  const { responseMessage, ...rest } = result;
  return { replyTo, result: { ...rest, ...(responseMessage && { responseMessage: reviveMessage(responseMessage) }) } };
}
