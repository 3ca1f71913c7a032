/**
 * Chooses which messages to remove so that the remaining ones are within the limits.
 *
 * Invariants:
 * 1. Only whole groups are removed, oldest first.
 * 2. Fixed and protected messages stay.
 * 3. Nothing is removed while the history is within the limits. When the history exceeds them, more is removed than
 *    necessary, so that the provider's cache is not invalidated at every step.
 * 4. An answer is removed together with its question, because some providers reject a conversation that begins with an
 *    answer.
 */
import type { Message } from '@goondan/types';
import { groupMessages, type MessageGroup } from './group-messages.ts';
import type { HistoryLimits } from './history-limits.ts';

export interface Question {
  readonly messages: readonly Message[];
  /** Messages are removed when the history exceeds these limits. */
  readonly limits: HistoryLimits;
  /** The limits that the history must meet after a removal. */
  readonly targets: HistoryLimits;
  readonly isProtected: (message: Message) => boolean;
}

/**
 * Returns the messages to remove, in the order of the conversation, and whether the remaining messages are within the
 * limits.
 */
export function chooseRemoved({ messages, limits, targets, isProtected }: Question) {
  const groups = groupMessages(messages);
  const size = sizeOf(groups);
  if (fits(size, limits)) return { removed: [], isEnough: true };
  const removed: MessageGroup[] = [];
  for (const group of groups) {
    const isDone = fits(size, targets) && !isAnswer(group);
    if (isDone) break;
    if (group.isFixed || group.messages.some(isProtected)) continue;
    removed.push(group);
    size.messages -= group.messages.length;
    size.tokens -= group.tokens;
  }
  const gone = new Set(removed.flatMap((group) => group.messages));
  return { removed: messages.filter((message) => gone.has(message)), isEnough: fits(size, limits) };
}

function isAnswer({ messages: [first] }: MessageGroup): boolean {
  return first?.data.role === 'assistant' || first?.data.role === 'tool';
}

function sizeOf(groups: readonly MessageGroup[]): { messages: number; tokens: number } {
  const size = { messages: 0, tokens: 0 };
  for (const { messages, tokens } of groups) {
    size.messages += messages.length;
    size.tokens += tokens;
  }
  return size;
}

function fits({ messages, tokens }: { messages: number; tokens: number }, limits: HistoryLimits): boolean {
  return messages <= (limits.maxMessages ?? Infinity) && tokens <= (limits.maxTokens ?? Infinity);
}
