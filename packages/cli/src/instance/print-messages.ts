import { type Message, TRUNCATED } from '@goondan/types';
import { harmlessLines } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';

/** A conversation for people: who speaks, and what they say. At a terminal nothing of it is obeyed, elsewhere it is as it is. */
export function printMessages(messages: readonly Message[], terminal: Terminal): void {
  // Not to standard output: what is there is the conversation.
  if (messages.length === 0) terminal.printError('There are no messages.\n');
  for (const message of messages) {
    const text = terminal.isWatched ? harmlessLines(textIn(message)) : textIn(message);
    const end = message.metadata[TRUNCATED] === true ? ` ${terminal.colors.yellow('[truncated]')}` : '';
    terminal.print(`${terminal.colors.bold(message.data.role)}  ${text}${end}\n`);
  }
}

/** Words as they are, everything else as JSON. */
function textIn({ data: { content } }: Message): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join(' ');
}
