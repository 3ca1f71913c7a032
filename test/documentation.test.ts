// Checks the documents: the commands, files, links and quoted code in them exist.
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  codeBlock,
  isTest,
  listRepository,
  readCodeBlocks,
  readRepository,
  repository,
  type RepositoryFile,
} from './read-repository.ts';
import { processRooms, sharedRooms } from './runtime-rooms.ts';

const runtimeSources = 'packages/runtime/src';
const topFolders = ['packages', 'examples', 'docs', 'scripts', 'test', 'bench'];
const rooms = [...processRooms, ...sharedRooms, 'testing'];

describe('the documents', () => {
  const documents = ['*.md', 'docs/**/*.md', 'examples/**/*.md'].flatMap(readRepository);

  test('README.md opens with the two commands', () => {
    expect(readCodeBlocks(read('README.md').text).slice(0, 2)).toEqual([
      'npm ci && npx gdn demo',
      'npm ci && npm test',
    ]);
  });

  test('README.md is read in two minutes: at most 600 words and 10 links', () => {
    const { text } = read('README.md');
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(600);
    expect(readLinks({ path: 'README.md', text }).length).toBeLessThanOrEqual(10);
  });

  test('docs/README.md lists every page', () => {
    const listed = readLinks(read('docs/README.md'));
    const pages = [...listRepository('docs/*.md'), ...listRepository('docs/{guide,reference}/*.md')];
    expect(pages).toContain('docs/replay.md');
    expect(pages.filter((path) => !listed.includes(path))).toEqual(['docs/README.md']);
  });

  test('ARCHITECTURE.md names only files and folders that exist', () => {
    const named = readPaths(read('ARCHITECTURE.md').text);
    expect(named).not.toBeEmpty();
    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  test('test/rules.md explains the rules that tests name', () => {
    const tests = readRepository('**/*.test.{ts,tsx}');
    const named = new Set(tests.flatMap(({ text }) => text.match(/(?<=['` ])[ABCLMNPRSVXY]-\d\d(?= )/g) ?? []));
    const explained = new Set<string>(read('test/rules.md').text.match(/(?<=^- \*\*)[A-Z]-\d\d/gm));
    expect(named).toContain('P-05');
    expect([...named].filter((id) => !explained.has(id))).toEqual([]);
  });

  test('link only to files that exist', () => {
    const targets = documents.flatMap((document) =>
      readLinks(document).map((target) => ({ from: document.path, target })),
    );
    expect(targets).toContainEqual({ from: 'docs/README.md', target: 'docs/errors.md' });
    expect(targets.filter(({ target }) => !existsSync(join(repository, target)))).toEqual([]);
  });

  test('link only to headings that exist', () => {
    expect(documents.flatMap((document) => findLostAnchors(document, documents))).toEqual([]);
  });

  test('quote only existing code: a TypeScript block names its file, YAML may, and the file contains it', () => {
    const quotes = documents.flatMap(readQuotes);
    expect(quotes.map(({ from }) => from)).toContain('README.md');
    expect(
      quotes.filter(({ file, code }) => !isQuoteOf(file, code)).map(({ from, file }) => `${from}: ${file}`),
    ).toEqual([]);
  });

  test('docs/extension-api.md has every runtime event and every kind of middleware', () => {
    const events = read('packages/types/src/runtime-events.ts').text.match(/(?<=^ {2}')\w+\.\w+(?=':)/gm) ?? [];
    const kinds = read('packages/types/src/middleware.ts').text.match(/(?<=register\(type: ')\w+/g) ?? [];
    expect(events).toContain('turn.started');
    expect(kinds).toContain('model');
    const { text } = read('docs/extension-api.md');
    expect([...events, ...kinds].filter((name) => !text.includes(`| \`${name}\` `))).toEqual([]);
  });

  test('and the sources have no markers for later work', () => {
    const sources = readRepository(`{${topFolders.join(',')}}/**/*.{ts,tsx,mjs,cjs}`).filter(
      ({ path }) => !isTest(path),
    );
    expect(sources.flatMap(findMarkers)).toEqual([]);
  });
});

describe('the reading of documents', () => {
  test('finds code blocks, without their fences', () => {
    expect(readCodeBlocks('# Title\n\n```sh\nfirst\n```\n\ntext `code`\n\n```\nsecond\nthird\n```\n')).toEqual([
      'first',
      'second\nthird',
    ]);
  });

  test('finds code blocks of one kind', () => {
    expect(readCodeBlocks('```text\nno\n```\n\n```text gdn demo\nyes\n```\n', 'text gdn demo')).toEqual(['yes']);
  });

  test('finds quotes, with their file', () => {
    const text = '```ts a/b.ts\nconst x = 1;\n```\n\n```ts\nconst y = 2;\n```\n\n```sh\nls\n```\n';
    expect(readQuotes({ path: 'x.md', text })).toEqual([
      { from: 'x.md', file: 'a/b.ts', code: 'const x = 1;' },
      { from: 'x.md', file: '', code: 'const y = 2;' },
    ]);
  });

  test('a quote consists of whole lines of its file', () => {
    const file = 'test/runtime-rooms.ts';
    expect(
      isQuoteOf(file, '/** One process each: the border of a process is that of a folder and of imports. */'),
    ).toBe(true);
    expect(isQuoteOf(file, 'One process each')).toBe(false);
    expect(isQuoteOf(file, 'nothing of the kind')).toBe(false);
    expect(isQuoteOf('test/nothing.ts', '')).toBe(false);
    expect(isQuoteOf('', '')).toBe(false);
  });

  test('finds anchors that lead nowhere, on this page or another', () => {
    const page = { path: 'docs/page.md', text: '# The `code` of it\n\n## Second, one\n' };
    const text =
      '[a](#here) [b](docs/page.md#the-code-of-it) [c](docs/page.md#second-one) [d](docs/page.md#third)\n# Here';
    expect(findLostAnchors({ path: 'x.md', text }, [page, { path: 'x.md', text }])).toEqual([
      'x.md: docs/page.md#third',
    ]);
    expect(findLostAnchors({ path: 'x.md', text: '[a](#here)' }, [{ path: 'x.md', text: '' }])).toEqual([
      'x.md: #here',
    ]);
  });

  test('finds paths in backticks, from the root or from a room of the runtime', () => {
    const text = '`packages/types/src/index.ts`, `agent/turn/`, `npm run x`, `and/or`, `agent`, packages/no/backticks';
    expect(readPaths(text)).toEqual(['packages/types/src/index.ts', 'agent/turn/']);
  });

  test.each(['packages/types/src/index.ts', 'packages/<name>/src', 'packages/*/src', 'ports/clock.ts', 'ports/clock'])(
    '`%s` exists',
    (path) => {
      expect(isThere(path)).toBe(true);
    },
  );

  test.each(['packages/types/src/nothing.ts', 'packages/<name>/nothing', 'ports/nothing', 'agent/clock'])(
    '`%s` does not exist',
    (path) => {
      expect(isThere(path)).toBe(false);
    },
  );

  test('finds relative links, from the folder of the document', () => {
    const text = '[a](../README.md#two) [b](https://example.com) [c](#here) [d](decisions/x.md "title") ![e](e.png)';
    expect(readLinks({ path: 'docs/guide.md', text })).toEqual(['README.md', 'docs/decisions/x.md', 'docs/e.png']);
  });

  test('finds markers with their line', () => {
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

interface Quote {
  readonly from: string;
  /** The file that the code block quotes; empty when the block names no file. */
  readonly file: string;
  readonly code: string;
}

function readQuotes({ path, text }: RepositoryFile): Quote[] {
  return [...text.matchAll(codeBlock)].flatMap(([, info = '', code = '']) => {
    const [language, file = ''] = info.split(' ');
    const isQuote = language === 'ts' || (language === 'yaml' && file !== '');
    return isQuote ? [{ from: path, file, code }] : [];
  });
}

function isQuoteOf(file: string, code: string): boolean {
  const [source] = file === '' ? [] : readRepository(file);
  return source !== undefined && `\n${source.text}`.includes(`\n${code}\n`);
}

function readPaths(text: string): string[] {
  return [...text.matchAll(/`([^`\s]+)`/g)].flatMap(([, path = '']) => {
    const [first = '', ...rest] = path.split('/');
    return rest.length > 0 && [...topFolders, ...rooms].includes(first) ? [path] : [];
  });
}

/** Completes a path. A path that begins with a room is below the runtime's sources. */
function fullPath(path: string): string {
  const [first = ''] = path.split('/');
  return topFolders.includes(first) ? path : posix.join(runtimeSources, path);
}

/** Tells whether a path exists. `<name>` and `*` match any name. The path of a room may omit the `.ts`. */
function isThere(path: string): boolean {
  const pattern = fullPath(path)
    .replace(/\/$/, '')
    .replaceAll(/<[^>]+>/g, '*');
  return [pattern, `${pattern}.ts`, `${pattern}/**`].some((candidate) => listRepository(candidate).length > 0);
}

function readLinks({ path, text }: RepositoryFile): string[] {
  return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target))
    .map((target) => posix.join(posix.dirname(path), decodeURIComponent(target)));
}

/** Lists links to a heading that the target page does not have. */
function findLostAnchors({ path, text }: RepositoryFile, documents: readonly RepositoryFile[]): string[] {
  return [...text.matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)].flatMap(([, target = '', anchor = '']) => {
    if (/^[a-z]+:/i.test(target)) return [];
    const page = target === '' ? path : posix.join(posix.dirname(path), target);
    const headings = documents.find((document) => document.path === page)?.text.match(/(?<=^#+ ).+$/gm) ?? [];
    return headings.map(anchorOf).includes(anchor) ? [] : [`${path}: ${target}#${anchor}`];
  });
}

/** Creates an anchor as GitHub does: lower case, words joined by hyphens, no other characters. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function findMarkers({ path, text }: RepositoryFile): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      /\b(?:TODO|FIXME|XXX|HACK)\b/.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
    );
}
