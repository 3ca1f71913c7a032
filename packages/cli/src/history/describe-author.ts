import type { EventAuthor } from '@goondan/runtime/history';

/** Who made a change, in a few words: `person via cli`, `model Model/claude`, `tool bash__exec`, … */
export function describeAuthor(author: EventAuthor): string {
  switch (author.kind) {
    case 'input':
      return author.from === undefined ? 'input' : describeSender(author.from);
    case 'model':
      return inPlace(author, author.ref ?? 'model') ?? (author.ref === undefined ? 'model' : `model ${author.ref}`);
    case 'tool':
      return inPlace(author, author.name) ?? `tool ${author.name}`;
    case 'extension':
      return `extension ${author.name}`;
    case 'runtime':
      return 'runtime';
  }
}

/** `extension cache for Model/claude`: a layer had the answer, nobody else was asked. */
function inPlace({ answeredBy }: { readonly answeredBy?: string }, whom: string): string | undefined {
  return answeredBy === undefined ? undefined : `extension ${answeredBy} for ${whom}`;
}

function describeSender({ kind, name, instanceKey }: NonNullable<Extract<EventAuthor, { kind: 'input' }>['from']>) {
  if (kind === 'agent') return `agent ${name}${instanceKey === undefined ? '' : ` (${instanceKey})`}`;
  // Whoever talks to the control socket does it for a person.
  return kind === 'cli' ? 'person via cli' : `person via ${name}`;
}
