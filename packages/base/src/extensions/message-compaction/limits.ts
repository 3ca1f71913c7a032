import { type HistoryLimits, maxMessagesOf } from '../../history/history-limits.ts';

export interface CompactionConfig extends HistoryLimits {
  /** The share of the limits to which the messages are reduced, not counting the summary. */
  readonly trimTo?: number;
  readonly summaryTokens?: number;
  /** The messages that a summary may replace: all, or those with the metadata `compaction.eligible: true`. */
  readonly eligible?: 'all' | 'marked';
  /** The model for summaries; the agent's own when absent. */
  readonly modelRef?: string;
  /** Another agent of the swarm that writes the summaries, instead of a model. */
  readonly agent?: string;
  readonly prompt?: string;
}

/**
 * The maximum number of messages if the config has no limit. The default of `message-window` is twice as high, so that an
 * agent with both extensions gets a summary before messages are removed.
 */
const DEFAULT_MESSAGES = 40;
const SUMMARY_TOKENS = 1_000;
/** The tokens that a summary needs for the frame of its message and for its introduction. */
const FRAME_TOKENS = 16;

/**
 * Computes the limits so that the remaining messages and the summary together stay within them. `targets` are the
 * limits for the remaining messages after a compaction, not counting the summary. `summaryTokens` is the maximum length
 * of a summary.
 */
export function readLimits(config: CompactionConfig) {
  const { maxTokens = Infinity, trimTo = 0.5, summaryTokens: wanted = SUMMARY_TOKENS } = config;
  const maxMessages = maxMessagesOf(config, DEFAULT_MESSAGES);
  const summaryTokens = Math.min(wanted, Math.max(1, Math.floor(maxTokens / 4) - FRAME_TOKENS));
  const targets = {
    maxMessages: Math.min(Math.floor(maxMessages * trimTo), maxMessages - 1),
    maxTokens: Math.min(Math.floor(maxTokens * trimTo), maxTokens - summaryTokens - FRAME_TOKENS),
  };
  return { limits: { maxMessages, maxTokens }, targets, summaryTokens };
}
