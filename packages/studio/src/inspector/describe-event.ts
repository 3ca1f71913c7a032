import type { HistoryView } from '@goondan/cli/studio';

type HistoryEvent = HistoryView['turns'][number]['events'][number];

/** Describes an event on one line, such as `append assistant “Seoul, the next…”`. */
export function describeEvent({ event, target }: HistoryEvent): string {
  const of = target === undefined ? '' : ` #${target}`;
  switch (event.type) {
    case 'append':
      return `+ ${event.message.data.role} ${quote(event.message.data.content)}`;
    case 'replace':
      return `~${of} ${event.message.data.role} ${quote(event.message.data.content)}`;
    case 'remove':
      return `− removed${of}`;
    default:
      return '✂ everything but its own input';
  }
}

type Content = Extract<HistoryEvent['event'], { type: 'append' }>['message']['data']['content'];

function quote(content: Content): string {
  const texts = typeof content === 'string' ? [content] : content.map(describePart);
  return texts.join(' ').replace(/\s+/g, ' ').slice(0, 200);
}

function describePart(part: Exclude<Content, string>[number]): string {
  if (part.type === 'text' || part.type === 'reasoning') return part.text;
  if (part.type === 'tool-call') return `calls ${part.toolName}`;
  if (part.type === 'tool-result') return `result of ${part.toolName}`;
  return part.type;
}
