// Functions with which the tests in this folder read the repository.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const repository = join(import.meta.dir, '..');

export interface RepositoryFile {
  /** The path, relative to the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Returns the repository's own files that match the pattern, sorted by path. */
export function readRepository(pattern: string): RepositoryFile[] {
  return listRepository(pattern).map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }));
}

export function listRepository(pattern: string): string[] {
  return [...new Bun.Glob(pattern).scanSync(repository)]
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.split('/').includes('node_modules'))
    .toSorted((a, b) => a.localeCompare(b));
}

export function isTest(path: string): boolean {
  // Files that only tests import count as tests, too.
  const isTesting = /^packages\/(?:base|cli|postgres|studio|v010)\/src\/(?:.*\/)?testing\//.test(path);
  return /\.test\.tsx?$/.test(path) || isTesting || /^packages\/(?:postgres|store)\/src\/simulation\//.test(path);
}

/** Returns all code blocks of a page, or only those whose fence has exactly this `kind`. */
export function readCodeBlocks(text: string, kind?: string): string[] {
  return [...text.matchAll(codeBlock)].flatMap(([, info, code = '']) =>
    kind === undefined || info === kind ? [code] : [],
  );
}

export const codeBlock = /^```(.*)\n([\s\S]*?)\n```$/gm;
