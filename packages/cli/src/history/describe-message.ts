/** Describes a message in one line: its text, its tool calls, and its results. */
import { describeFile, type Message, TRUNCATED } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import { shorten } from '../shorten.ts';

/** Returns at most `longest` characters, without control characters. */
export function describeMessage({ data: { content }, metadata }: Message, longest: number): string {
  const text = typeof content === 'string' ? content : content.map(describePart).join(' ');
  const end = metadata[TRUNCATED] === true ? ' [truncated]' : '';
  const room = longest - end.length;
  return `${shorten(harmlessText(shorten(text, room)), room)}${end}`;
}

/** Returns the text of a part, a file as `[image cat.png, 12 KB]`, a call as `→ name {…}`, and the value of a result. */
export function describePart(part: Exclude<Message['data']['content'], string>[number]): string {
  if (part.type === 'text' || part.type === 'reasoning') return part.text;
  if (part.type === 'tool-call') return `→ ${part.toolName} ${JSON.stringify(part.input)}`;
  if (part.type === 'image' || part.type === 'file') return describeFile(part);
  if (part.type !== 'tool-result') return `[${part.type}]`;
  const { output } = part;
  if (output.type === 'content') return output.value.map(describePart).join(' ');
  const value = 'value' in output ? output.value : output;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
