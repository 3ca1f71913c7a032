/**
 * Warns about a `bunfig.toml` with a `preload`. The runtime ignores that file, because a preload would run in every
 * process. The file is searched line by line instead of parsed, because a hostile file could make a parser hang.
 */
import { type Finding, warningAt } from '../bundle-problem.ts';
import { readTextFileIn } from './text-file.ts';

const FILE = 'bunfig.toml';
const LARGEST = 1024 * 1024;

export async function findPreload(folder: string): Promise<Finding[]> {
  const read = await readTextFileIn(folder, FILE, LARGEST);
  return read.type === 'text' ? findPreloadIn(read.text) : [];
}

/** Searches only the lines before the first table, which apply to `bun run`; `[test]` has its own `preload`. */
export function findPreloadIn(text: string): Finding[] {
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*\[+\s*[\w"']/.test(line)) break;
    const column = 1 + line.search(/\S/);
    if (!/^\s*(["']?)preload\1\s*=/.test(line)) continue;
    const message = `${FILE} must not preload anything; the file was ignored.`;
    return [warningAt({ file: FILE, line: index + 1, column }, 'E_BUNFIG_REFUSED', message)];
  }
  return [];
}
