import type { EventAuthor } from '@goondan/runtime';

/** Who made a change, in a few words: `person via cli`, `model Model/claude`, `tool bash__exec`, … */
export function describeAuthor(author: EventAuthor): string {
  switch (author.kind) {
    case 'input':
      return author.from === undefined ? 'input' : describeSender(author.from);
    case 'model':
      return author.ref === undefined ? 'model' : `model ${author.ref}`;
    case 'tool':
    case 'extension':
      return `${author.kind} ${author.name}`;
    case 'runtime':
      return 'runtime';
  }
}

function describeSender({ kind, name, instanceKey }: NonNullable<Extract<EventAuthor, { kind: 'input' }>['from']>) {
  if (kind === 'agent') return `agent ${name}${instanceKey === undefined ? '' : ` (${instanceKey})`}`;
  // Whoever talks to the control socket does it for a person.
  return kind === 'cli' ? 'person via cli' : `person via ${name}`;
}
