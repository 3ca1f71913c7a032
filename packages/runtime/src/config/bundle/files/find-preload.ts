/**
 * Warns about a `bunfig.toml` with a `preload`. The runtime ignores that file, because a preload would run in every
 * process. The file is searched line by line instead of parsed, because a hostile file could make a parser hang.
 */
import { GoondanError } from '@goondan/types';
import { resolveEntry } from '../../resolve-entry.ts';
import { type Finding, warningAt } from '../bundle-problem.ts';
import { readTextFile } from './text-file.ts';

const FILE = 'bunfig.toml';
const LARGEST = 1024 * 1024;

export async function findPreload(folder: string): Promise<Finding[]> {
  return findPreloadIn(await readText(folder));
}

async function readText(folder: string): Promise<string> {
  try {
    const path = await resolveEntry(folder, FILE, 'The file');
    const read = path === undefined ? undefined : readTextFile(path, LARGEST);
    return read?.type === 'text' ? read.text : '';
  } catch (error) {
    // A link that leads out of the bundle is not followed.
    if (GoondanError.is(error)) return '';
    throw error;
  }
}

/** Searches only the lines before the first table, which apply to `bun run`; `[test]` has its own `preload`. */
export function findPreloadIn(text: string): Finding[] {
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*\[+\s*[\w"']/.test(line)) break;
    const column = 1 + line.search(/\S/);
    if (!/^\s*(["']?)preload\1\s*=/.test(line)) continue;
    const message = `${FILE} must not preload anything; it was ignored.`;
    return [warningAt({ file: FILE, line: index + 1, column }, 'E_BUNFIG_REFUSED', message)];
  }
  return [];
}
