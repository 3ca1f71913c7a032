import type { Message } from './message.ts';

/** Returns the text parts of a message; an empty text when it has none. */
export function textOf(message: Message | undefined): string {
  if (message === undefined) return '';
  const { content } = message.data;
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
