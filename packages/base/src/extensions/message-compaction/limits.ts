import type { HistoryLimits } from '../../history/choose-removed.ts';

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

export interface CompactionLimits {
  readonly limits: HistoryLimits;
  /** The maximum number of messages and tokens after a compaction, not counting the summary. */
  readonly targets: HistoryLimits;
  /** The maximum length of a summary, in tokens. */
  readonly summaryTokens: number;
}

const SUMMARY_TOKENS = 1_000;
/** The tokens of a message's frame and of the introduction of a summary. */
const FRAME_TOKENS = 16;

/** Computes the limits so that the remaining messages and the summary together stay within them. */
export function readLimits({ maxMessages, maxTokens, trimTo = 0.5, ...config }: CompactionConfig): CompactionLimits {
  const most = maxTokens === undefined ? Infinity : Math.max(1, Math.floor(maxTokens / 4) - FRAME_TOKENS);
  const summaryTokens = Math.min(config.summaryTokens ?? SUMMARY_TOKENS, most);
  const targets = {
    ...(maxMessages === undefined ? {} : { maxMessages: Math.min(Math.floor(maxMessages * trimTo), maxMessages - 1) }),
    ...(maxTokens === undefined
      ? {}
      : { maxTokens: Math.min(Math.floor(maxTokens * trimTo), maxTokens - summaryTokens - FRAME_TOKENS) }),
  };
  const limits = {
    ...(maxMessages === undefined ? {} : { maxMessages }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  return { limits, targets, summaryTokens };
}
