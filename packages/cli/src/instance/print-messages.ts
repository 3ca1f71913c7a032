import { type Message, TRUNCATED } from '@goondan/types';
import { harmlessLines } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';

/**
 * Prints a conversation for people: the speaker and the text. At a terminal control characters are made harmless;
 * elsewhere the text is unchanged.
 */
export function printMessages(messages: readonly Message[], terminal: Terminal): void {
  // On standard error, because standard output holds the conversation only.
  if (messages.length === 0) terminal.printError('There are no messages.\n');
  for (const message of messages) {
    const text = terminal.isWatched ? harmlessLines(textIn(message)) : textIn(message);
    const end = message.metadata[TRUNCATED] === true ? ` ${terminal.colors.yellow('[truncated]')}` : '';
    terminal.print(`${terminal.colors.bold(message.data.role)}  ${text}${end}\n`);
  }
}

/** Returns texts unchanged, and everything else as JSON. */
function textIn({ data: { content } }: Message): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join(' ');
}
