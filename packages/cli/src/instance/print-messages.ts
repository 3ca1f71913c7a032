import { type Message, TRUNCATED } from '@goondan/types';
import { describePart } from '../history/describe-message.ts';
import { harmlessLines } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';

/**
 * Prints a conversation for people, each message with its speaker. At a terminal the text is escaped; elsewhere it is
 * unchanged.
 */
export function printMessages(messages: readonly Message[], terminal: Terminal): void {
  // Printed to standard error, because standard output contains only the conversation.
  if (messages.length === 0) terminal.printError('There are no messages.\n');
  for (const message of messages) {
    const text = terminal.isWatched ? harmlessLines(textIn(message)) : textIn(message);
    const end = message.metadata[TRUNCATED] === true ? ` ${terminal.colors.yellow('[truncated]')}` : '';
    terminal.print(`${terminal.colors.bold(message.data.role)}  ${text}${end}\n`);
  }
}

/** Returns the whole content, with tool calls and results in the form of `gdn history`. */
function textIn({ data: { content } }: Message): string {
  if (typeof content === 'string') return content;
  return content.map(describePart).join(' ');
}
