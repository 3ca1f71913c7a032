// Renders the table of operations into docs/control-socket.md, from the table that the client and the server use.
import { join } from 'node:path';
import { operationNames, operations, PROTOCOL } from '../packages/runtime/src/control/operations.ts';
import { markdownTable } from './markdown-table.ts';

export const controlPage = join(import.meta.dir, '..', 'docs', 'control-socket.md');

/** Renders the page with the current table of operations. */
export function renderControlPage(page: string): string {
  const table = /(?<=^<!-- npm run write -->\n\n)\|.*?\n(?=\n)/ms;
  if (!table.test(page)) throw new Error('docs/control-socket.md has no table of operations.');
  return page.replace(table, renderOperations());
}

function renderOperations(): string {
  const rows = operationNames.map((name) => {
    const { method, path, request, answer, isPatient, stream } = operations[name];
    const notes = [stream && streams[stream], isPatient && 'may take long'].filter((note) => note !== undefined);
    const heading = `${method} ${PROTOCOL}${path}`;
    return [
      `\`${name}\``,
      `[\`${heading}\`](#${heading.toLowerCase().replaceAll('/', '').replace(' ', '-')})`,
      listFields(request.fields),
      stream === 'always' ? 'events' : listFields(answer.fields),
      notes.join(', '),
    ];
  });
  return markdownTable(['method of `Swarm`', 'request', 'query of a GET, body of a POST', 'answer', 'how'], rows);
}

const streams = { always: 'a stream', accepted: 'a stream if you accept one' };

function listFields(fields: readonly string[]): string {
  return fields.length === 0 ? 'none' : fields.map((field) => `\`${field}\``).join(' ');
}
