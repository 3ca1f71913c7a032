/**
 * Formats messages as a transcript for a model, each with its speaker. Long tool results are cut, because a summary
 * needs only their gist.
 */
import type { Message } from '@goondan/types';

const LONGEST_RESULT = 2_000;

export function writeTranscript(messages: readonly Message[]): string {
  return messages.map(({ data }) => `${describe(data)}\n`).join('');
}

function describe({ role, content }: Message['data']): string {
  if (typeof content === 'string') return `${role}: ${content}`;
  return content.map((part) => `${role}: ${describePart(part)}`).join('\n');
}

function describePart(part: Exclude<Message['data']['content'], string>[number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'reasoning':
      return `(thought) ${cut(part.text)}`;
    case 'image':
      return '(an image)';
    case 'file':
      return `(a file, ${part.mediaType})`;
    case 'tool-call':
      return `(calls ${part.toolName}) ${cut(JSON.stringify(part.input))}`;
    case 'tool-result':
      return `(result of ${part.toolName}) ${cut(JSON.stringify(part.output))}`;
    case 'custom':
      return `(${part.kind})`;
  }
}

function cut(text: string): string {
  return text.length <= LONGEST_RESULT ? text : `${text.slice(0, LONGEST_RESULT)}… (${text.length} characters)`;
}
