// The tests of this folder are about the repository itself: this is how they see it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const repository = join(import.meta.dir, '..');

export interface RepositoryFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** The files that fit the pattern and are ours, in the order of their paths. */
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
  // What only tests import is not shipped either.
  return /\.test\.tsx?$/.test(path) || /^packages\/(?:base|cli|studio)\/src\/(?:.*\/)?testing\//.test(path);
}

/** The code blocks of a page: all of them, or those whose fence says exactly this. */
export function readCodeBlocks(text: string, kind?: string): string[] {
  return [...text.matchAll(codeBlock)].flatMap(([, info, code = '']) =>
    kind === undefined || info === kind ? [code] : [],
  );
}

export const codeBlock = /^```(.*)\n([\s\S]*?)\n```$/gm;
