import { expect, test } from 'bun:test';
import { readRepository } from './read-repository.ts';

const names = /\b(Journal|openJournal|durableStore|QuestionFile|ownWorkspace)\b/;
const readers = /\b(Journal|durableStore|readTurnTrace|listTurns|readSwarmLog|readRecording)\b/;

/** The public entry point, which offers the files of a workspace to programs. */
const entry = 'packages/runtime/src/history.ts';

function importing(pattern: string, wanted: RegExp, isAllowed: (path: string) => boolean): string[] {
  return readRepository(pattern)
    .filter(({ path }) => !path.endsWith('.test.ts') && !path.includes('/testing/') && !isAllowed(path))
    .filter(({ text }) => [...text.matchAll(/^(?:import|export)[^;]*?\bfrom\b/gms)].some(([line]) => wanted.test(line)))
    .map(({ path }) => path);
}

test('only the file store opens the files of a workspace; all others use the seams', () => {
  const isFiles = (path: string) => /^packages\/runtime\/src\/(workspace|store\/files)\//.test(path) || path === entry;
  expect(importing('packages/runtime/src/**/*.ts', names, isFiles)).toEqual([]);
});

test('gdn and Studio read a swarm only through the readers of its store', () => {
  expect(importing('packages/cli/src/**/*.ts', readers, () => false)).toEqual([]);
});
