/** A note in a workspace on files whose conversations were copied into a store. A person who goes on with the files is warned. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceFolder } from '@goondan/runtime/internal';
import { harmlessText } from '../harmless-text.ts';
import type { FilePlace, SwarmPlace } from '../swarm/swarm-place.ts';
import type { Terminal } from '../terminal.ts';

/** Leaves the note. `store`: the server and the database, without a password. */
export function noteImport({ stateRoot, workspaceId }: FilePlace, store: string): void {
  const note = { store, at: new Date().toISOString() };
  writeFileSync(notePath(stateRoot, workspaceId), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/** Prints one line if the place is one on files that was imported into a store. */
export function warnImported(place: SwarmPlace, terminal: Pick<Terminal, 'printError'>): void {
  const store = place.cluster === undefined ? readNote(place) : undefined;
  if (store === undefined) return;
  const copied = `The conversations of this swarm were copied into the store ${harmlessText(store)}`;
  terminal.printError(
    `warn: ${copied}, and this command goes on with the files. Set GOONDAN_STORE to go on with the store.\n`,
  );
}

function readNote({ stateRoot, workspaceId }: FilePlace): string | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(notePath(stateRoot, workspaceId), 'utf8'));
    const store = typeof note === 'object' && note !== null && 'store' in note ? note.store : undefined;
    return typeof store === 'string' ? store : undefined;
  } catch {
    // There is no note.
    return undefined;
  }
}

function notePath(stateRoot: string, workspaceId: string): string {
  return join(workspaceFolder(stateRoot, workspaceId), 'imported.json');
}
