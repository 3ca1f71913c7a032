export interface HistoryLimits {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
}

/** Returns the maximum number of messages: `byDefault` when neither limit is given. */
export function maxMessagesOf({ maxMessages, maxTokens }: HistoryLimits, byDefault: number): number {
  return maxMessages ?? (maxTokens === undefined ? byDefault : Infinity);
}
