import type { ConversationState, Message } from '@goondan/types';
import { groupMessages } from './group-messages.ts';

/** What a model cannot do without: what this turn was asked, and the newest thing that was said or done. */
export function protectNewest({ events, nextMessages }: ConversationState): (message: Message) => boolean {
  const [first] = events;
  const input = first?.type === 'append' ? first.message.id : undefined;
  const newest = new Set(groupMessages(nextMessages).at(-1)?.messages ?? []);
  return (message) => message.id === input || newest.has(message);
}
