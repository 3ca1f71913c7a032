import { expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { noteImport, warnImported } from './imported-note.ts';

const stateRoot = temporaryFolder();

test('S-08 only a swarm whose conversations were copied into a store warns that it goes on with the files', () => {
  const place = { stateRoot, workspaceId: 'w' };
  mkdirSync(`${place.stateRoot}/workspaces/w`, { recursive: true });
  const printed: string[] = [];
  const terminal = { printError: (text: string) => void printed.push(text) };
  warnImported(place, terminal);
  expect(printed).toEqual([]);
  noteImport(place, 'db:5432/gdn');
  warnImported(place, terminal);
  expect(printed).toEqual([expect.stringContaining('copied into the store db:5432/gdn')]);
});
