import type { Message } from './message.ts';

/** Returns the text of a message without its other parts; empty when there is none. */
export function textOf(message: Message | undefined): string {
  if (message === undefined) return '';
  const { content } = message.data;
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
