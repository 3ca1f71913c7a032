/** Describes a message in one line: its text, its tool calls, and its results. */
import { type Message, TRUNCATED } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import { shorten } from '../shorten.ts';

/** Returns at most `longest` characters, without control characters. */
export function describeMessage({ data: { content }, metadata }: Message, longest: number): string {
  const text = typeof content === 'string' ? content : content.map(describePart).join(' ');
  const end = metadata[TRUNCATED] === true ? ' [truncated]' : '';
  const room = longest - end.length;
  return `${shorten(harmlessText(shorten(text, room)), room)}${end}`;
}

/** Returns the text of a part, a tool call as `→ name {…}`, and the value of a result. */
export function describePart(part: Exclude<Message['data']['content'], string>[number]): string {
  if (part.type === 'text' || part.type === 'reasoning') return part.text;
  if (part.type === 'tool-call') return `→ ${part.toolName} ${JSON.stringify(part.input)}`;
  if (part.type !== 'tool-result') return `[${part.type}]`;
  const { output } = part;
  const value = 'value' in output ? output.value : output;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
