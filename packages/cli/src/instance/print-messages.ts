import type { Message } from '@goondan/types';
import type { Terminal } from '../terminal.ts';

/** A conversation for people: who speaks, and what they say. */
export function printMessages(messages: readonly Message[], terminal: Terminal): void {
  for (const message of messages) terminal.print(`${terminal.colors.bold(message.data.role)}  ${textIn(message)}\n`);
}

/** Words as they are, everything else as JSON. */
function textIn({ data: { content } }: Message): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join(' ');
}
