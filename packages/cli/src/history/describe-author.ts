import type { EventAuthor } from '@goondan/runtime/history';

/** Names the author of a change: `person via cli`, `model Model/claude`, `tool bash__exec`, … */
export function describeAuthor(author: EventAuthor): string {
  switch (author.kind) {
    case 'input':
      return author.from === undefined ? 'input' : describeSender(author.from);
    case 'model':
      return inPlace(author, author.ref ?? 'model') ?? (author.ref === undefined ? 'model' : `model ${author.ref}`);
    case 'tool':
      return inPlace(author, author.name) ?? `tool ${author.name}${describeChange(author)}`;
    case 'extension':
      return `extension ${author.name}`;
    case 'runtime':
      return 'runtime';
  }
}

/** Formats a reply that an extension's layer gave in place of the model, such as `extension cache for Model/claude`. */
function inPlace({ answeredBy }: { readonly answeredBy?: string }, whom: string): string | undefined {
  return answeredBy === undefined ? undefined : `extension ${answeredBy} for ${whom}`;
}

/** Names the person who changed the arguments of a tool call, and their door. */
function describeChange({ changedBy, changedVia }: Extract<EventAuthor, { kind: 'tool' }>): string {
  if (changedBy === undefined) return '';
  return ` with arguments of ${changedBy}${changedVia === undefined ? '' : ` via ${changedVia}`}`;
}

function describeSender({ kind, name, instanceKey }: NonNullable<Extract<EventAuthor, { kind: 'input' }>['from']>) {
  if (kind === 'agent') return `agent ${name}${instanceKey === undefined ? '' : ` (${instanceKey})`}`;
  // A schedule is no person.
  if (kind === 'connector') return `connection ${name}`;
  // Every client of the control socket acts for a person. `gdn`, and clients without a name, are shown as the cli.
  return name === 'gdn' || name === 'control' ? 'person via cli' : `person via ${name}`;
}
