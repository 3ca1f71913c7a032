import type { ShownMessage } from './message-parts.ts';

/** Names the author of a message in a word or two. */
export function describeAuthor(author: ShownMessage['author'], role?: ShownMessage['message']['data']['role']): string {
  switch (author.kind) {
    case 'input':
      if (author.from?.kind === 'agent') return `agent ${author.from.name}`;
      if (author.from?.kind === 'connector') return `connector ${author.from.name}`;
      return author.from === undefined || role === undefined ? 'input' : 'You';
    case 'model':
      return inPlace(author, author.ref ?? 'model');
    case 'tool':
      return `${inPlace(author, author.name)}${describeChange(author)}`;
    case 'extension':
      return `extension ${author.name}`;
    case 'runtime':
      return 'runtime';
    default:
      return 'unknown';
  }
}

/** Names the person who changed the arguments of a call, and their door. */
function describeChange({ changedBy, changedVia }: Extract<ShownMessage['author'], { kind: 'tool' }>): string {
  if (changedBy === undefined) return '';
  return `, changed by ${changedBy}${changedVia === undefined ? '' : ` via ${changedVia}`}`;
}

/** Describes a reply or result that a layer gave itself, without calling the model or the tool. */
function inPlace({ answeredBy }: { readonly answeredBy?: string }, whom: string): string {
  return answeredBy === undefined ? whom : `extension ${answeredBy} for ${whom}`;
}
