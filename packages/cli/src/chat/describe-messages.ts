/** Describes a past conversation for a person who returns to it. */
import { type Message, textOf, TRUNCATED } from '@goondan/types';
import { describeSent } from './screen/chat-screen.ts';
import { emptyLine, type Line, line, span } from './screen/line.ts';
import { StreamedMarkdown } from './turn/streamed-markdown.ts';
import type { EarlierInput } from './read-earlier.ts';
import { shorten } from '../shorten.ts';

const LONGEST_ARGUMENTS = 80;
const LONGEST_WAITING = 100;

/**
 * Shows the messages of people and agents, and the names of called tools. Tool results are not shown. `bounds.messages`
 * is the maximum number of messages; the last ones are shown. `bounds.lines` is the maximum number of lines of each
 * message, `bounds.columns` their width.
 */
export function describeMessages(
  messages: readonly Message[],
  bounds: { readonly messages: number; readonly lines: number; readonly columns: number },
): Line[] {
  const told = messages.filter(isTold);
  const shown = fromQuestion(told.slice(-bounds.messages));
  const hidden = told.length - shown.length;
  const earlier = `${hidden} earlier ${hidden === 1 ? 'message' : 'messages'}`;
  const above = hidden === 0 ? [] : [line(`(${earlier}: /history ${told.length})`, 'dim'), emptyLine];
  const described = shown.flatMap((message, index) => {
    const isNext = message.data.role === 'user' && index > 0;
    return [...(isNext ? [emptyLine] : []), ...cut(describe(message, bounds.columns), bounds.lines)];
  });
  return [...above, ...described];
}

/** Returns the texts that the person sent, so that the arrow keys can bring them back. */
export function sentIn(messages: readonly Message[]): string[] {
  return messages.filter(({ data, source }) => data.role === 'user' && source.type === 'user').map(textOf);
}

/** Describes messages that were sent and that wait for `what`. */
export function describeWaiting(what: string, messages: readonly Pick<EarlierInput, 'input'>[]): Line[] {
  return messages.map(({ input }) => line(`${what}: ${shorten(input, LONGEST_WAITING)}`, 'dim'));
}

/** Leaves out messages before the first message of a person, so that no partial exchange is shown. */
function fromQuestion(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ data }) => data.role === 'user');
  return first === -1 ? messages : messages.slice(first);
}

function isTold({ data }: Message): boolean {
  return data.role === 'user' || data.role === 'assistant';
}

function describe(message: Message, columns: number): Line[] {
  const text = textOf(message);
  if (message.data.role === 'user') return describeSent(text);
  const end = message.metadata[TRUNCATED] === true ? [line('[truncated]', 'yellow')] : [];
  const said = new StreamedMarkdown(() => columns);
  return [...said.add(text), ...said.end(), ...end, ...callsIn(message)];
}

function callsIn({ data }: Message): Line[] {
  if (data.role !== 'assistant' || typeof data.content === 'string') return [];
  return data.content.flatMap((part) => {
    if (part.type !== 'tool-call') return [];
    const args = shorten(JSON.stringify(part.input), LONGEST_ARGUMENTS);
    return [[span('  · '), span(part.toolName, 'cyan'), span(args === '{}' ? '' : ` ${args}`, 'dim')]];
  });
}

function cut(lines: readonly Line[], most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), line(`… ${lines.length - most + 1} more lines`, 'dim')];
}
