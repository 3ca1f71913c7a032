import { createUserMessage, type Message } from '@goondan/types';

/** Lists the id of each tool call and of each result in a message. */
export function callIds({ data }: Message): string[] {
  if (typeof data.content === 'string') return [];
  return data.content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : []));
}

/** Makes a history of short messages of a user. */
export function userMessages(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => createUserMessage(`${index}`, {}, { id: `m${index}` }));
}
