// What the documents promise is there: the commands, the files they name, the pages they link to.
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isTest, listRepository, readRepository, repository, type RepositoryFile } from './read-repository.ts';
import { processRooms, sharedRooms } from './runtime-rooms.ts';

const runtimeSources = 'packages/runtime/src';
const topFolders = ['packages', 'examples', 'docs', 'scripts', 'test', 'bench'];
const rooms = [...processRooms, ...sharedRooms, 'testing'];

describe('the documents', () => {
  test('README.md opens with the two commands', () => {
    expect(readCodeBlocks(read('README.md').text).slice(0, 2)).toEqual([
      'npm ci && npx gdn demo',
      'npm ci && npm test',
    ]);
  });

  test('ARCHITECTURE.md names only files and folders that exist', () => {
    const named = readPaths(read('ARCHITECTURE.md').text);
    expect(named).not.toBeEmpty();
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  test.each(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'GLOSSARY.md', 'CHANGELOG.md', 'LICENSE'])(
    '%s is there',
    (path) => {
      expect(existsSync(join(repository, path))).toBe(true);
    },
  );

  test('link only to files that exist', () => {
    const documents = [...readRepository('*.md'), ...readRepository('docs/**/*.md')];
    const targets = documents.flatMap((document) =>
      readLinks(document).map((target) => ({ from: document.path, target })),
    );
    expect(targets.filter(({ target }) => !existsSync(join(repository, target)))).toEqual([]);
  });

  test('and the sources leave nothing for later', () => {
    const sources = readRepository(`{${topFolders.join(',')}}/**/*.{ts,tsx,mjs}`).filter(({ path }) => !isTest(path));
    expect(sources.flatMap(findMarkers)).toEqual([]);
  });
});

describe('the reading of documents', () => {
  test('code blocks, without their fences', () => {
    expect(readCodeBlocks('# Title\n\n```sh\nfirst\n```\n\ntext `code`\n\n```\nsecond\nthird\n```\n')).toEqual([
      'first',
      'second\nthird',
    ]);
  });

  test('paths in backticks, from the root or from a room of the runtime', () => {
    const text = '`packages/types/src/index.ts`, `agent/turn/`, `npm run x`, `and/or`, `agent`, packages/no/backticks';
    expect(readPaths(text)).toEqual(['packages/types/src/index.ts', 'agent/turn/']);
  });

  test.each(['packages/types/src/index.ts', 'packages/<name>/src', 'packages/*/src', 'ports/clock.ts', 'ports/clock'])(
    '`%s` is there',
    (path) => {
      expect(isThere(path)).toBe(true);
    },
  );

  test.each(['packages/types/src/nothing.ts', 'packages/<name>/nothing', 'ports/nothing', 'agent/clock'])(
    '`%s` is not',
    (path) => {
      expect(isThere(path)).toBe(false);
    },
  );

  test('relative links, from where the document stands', () => {
    const text = '[a](../README.md#two) [b](https://example.com) [c](#here) [d](decisions/x.md "title") ![e](e.png)';
    expect(readLinks({ path: 'docs/guide.md', text })).toEqual(['README.md', 'docs/decisions/x.md', 'docs/e.png']);
  });

  test('markers with their line', () => {
    expect(findMarkers({ path: 'a.ts', text: 'const x = 1;\n// TODO: more\ntodo();\n' })).toEqual([
      'a.ts:2: // TODO: more',
    ]);
  });
});

function read(path: string): RepositoryFile {
  const [file] = readRepository(path);
  if (file === undefined) throw new Error(`${path} is missing`);
  return file;
}

function readCodeBlocks(text: string): string[] {
  return [...text.matchAll(/^```.*\n([\s\S]*?)\n```$/gm)].map(([, code = '']) => code);
}

function readPaths(text: string): string[] {
  return [...text.matchAll(/`([^`\s]+)`/g)].flatMap(([, path = '']) => {
    const [first = '', ...rest] = path.split('/');
    return rest.length > 0 && [...topFolders, ...rooms].includes(first) ? [path] : [];
  });
}

/** `<name>` and `*` stand for any one name; a file of a room may leave out its `.ts`. */
function isThere(path: string): boolean {
  const [first = ''] = path.split('/');
  const full = topFolders.includes(first) ? path : posix.join(runtimeSources, path);
  const pattern = full.replace(/\/$/, '').replaceAll(/<[^>]+>/g, '*');
  return [pattern, `${pattern}.ts`, `${pattern}/**`].some((candidate) => listRepository(candidate).length > 0);
}

function readLinks({ path, text }: RepositoryFile): string[] {
  return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target))
    .map((target) => posix.join(posix.dirname(path), decodeURIComponent(target)));
}

function findMarkers({ path, text }: RepositoryFile): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      /\b(?:TODO|FIXME|XXX|HACK)\b/.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
    );
}
