/**
 * Which part of a conversation has to go, so that what stays is within its limits.
 *
 * Invariants: 1. Only whole groups go, the oldest first. 2. What is fixed or protected stays. 3. Nothing goes while the
 * limits are met; when they are not, room is made for a while, so that what a provider has cached of the conversation is
 * not worthless at every step. 4. An answer goes with its question: some providers refuse what begins with an answer.
 */
import type { Message } from '@goondan/types';
import { groupMessages, type MessageGroup } from './group-messages.ts';

export interface HistoryLimits {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
}

export interface Question {
  readonly messages: readonly Message[];
  /** More than that is too much. */
  readonly limits: HistoryLimits;
  /** When it is too much, so much is left at most. */
  readonly targets: HistoryLimits;
  readonly isProtected: (message: Message) => boolean;
}

export interface Choice {
  /** In the order of the conversation. */
  readonly removed: readonly Message[];
  /** What stays meets the limits. */
  readonly isEnough: boolean;
}

export function chooseRemoved({ messages, limits, targets, isProtected }: Question): Choice {
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
