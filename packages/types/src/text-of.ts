import type { Message } from './message.ts';

/** A message's words, without its other parts; empty when there are none. */
export function textOf(message: Message | undefined): string {
  if (message === undefined) return '';
  const { content } = message.data;
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
