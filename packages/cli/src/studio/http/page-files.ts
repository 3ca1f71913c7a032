/** The built page of Studio. The files are read once, so later requests never reach the disk. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoondanError } from '@goondan/types';

/** Files by their path in the address, such as `/` or `/chunk-….js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** True when the file's name contains a hash of its content. */
  readonly isHashed: boolean;
}

/** The folder `dist` is next to `src`, both in the repository and in an installed CLI. */
const builtPage = fileURLToPath(new URL('../../../dist/studio', import.meta.url));

const types: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.html', 'text/html; charset=utf-8'],
  ['.ico', 'image/x-icon'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
]);

/** **Errors** — `E_STUDIO_PAGE`. */
export function readPageFiles(folder = builtPage): PageFiles {
  const names = namesIn(folder).filter((name) => types.has(extname(name)));
  const files = new Map(names.map((name) => [pathOf(name), readFile(folder, name)]));
  if (!files.has('/')) throw new GoondanError('E_STUDIO_PAGE', `There is no page of Studio in "${folder}".`);
  return files;
}

/** Browsers may cache a hashed file; the page itself is requested each time. */
export function answerFile({ bytes, type, isHashed }: PageFile): Response {
  const kept = isHashed ? { 'Cache-Control': 'private, max-age=31536000, immutable' } : {};
  return new Response(bytes, { headers: { 'Content-Type': type, ...kept } });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw new GoondanError('E_STUDIO_PAGE', `The page of Studio cannot be read from "${folder}".`, { cause: error });
  }
}

function pathOf(name: string): string {
  return name === 'index.html' ? '/' : `/${name}`;
}

function readFile(folder: string, name: string): PageFile {
  const bytes = new Uint8Array(readFileSync(join(folder, name)));
  return { bytes, type: types.get(extname(name)) ?? '', isHashed: /-[a-z0-9]{8,}\.\w+$/.test(name) };
}
