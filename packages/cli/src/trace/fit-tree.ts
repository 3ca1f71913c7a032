/** Fits a tree to a narrow terminal: long lines continue below, in the same branches. */
import { wrapWords } from '../fit-width.ts';

export function fitTree(tree: string, columns: number): string {
  return tree
    .split('\n')
    .flatMap((line) => fitLine(line, columns))
    .join('\n');
}

function fitLine(line: string, columns: number): string[] {
  const [branches = ''] = /^(?:│ )*/.exec(line) ?? [];
  const rows = wrapWords(line.slice(branches.length), columns - branches.length, GOES_ON).split('\n');
  return rows.map((row) => `${branches}${row}`);
}

const GOES_ON = '  ';
