import type { ConversationState, Message } from '@goondan/types';
import { groupMessages } from './group-messages.ts';

/**
 * Returns a test for the messages that a model always needs: the input of this turn, and the newest group of messages.
 */
export function protectNewest({ events, nextMessages }: ConversationState): (message: Message) => boolean {
  const [first] = events;
  const input = first?.type === 'append' ? first.message.id : undefined;
  const newest = new Set(groupMessages(nextMessages).at(-1)?.messages ?? []);
  return (message) => message.id === input || newest.has(message);
}
