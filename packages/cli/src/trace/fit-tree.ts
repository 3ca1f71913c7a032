/** Fits a tree to a narrow terminal: long lines continue below, in the same branches. */

/** The minimum number of columns for text. If there are fewer, the line is not split, and the terminal wraps it. */
const LEAST_ROOM = 12;

export function fitTree(tree: string, columns: number): string {
  return tree
    .split('\n')
    .flatMap((line) => fitLine(line, columns))
    .join('\n');
}

function fitLine(line: string, columns: number): string[] {
  const [branches = ''] = /^(?:│ )*/.exec(line) ?? [];
  const room = columns - branches.length - GOES_ON.length;
  if (Bun.stringWidth(line) <= columns || room < LEAST_ROOM) return [line];
  const rows = Bun.wrapAnsi(line.slice(branches.length), room, { hard: true, trim: false }).split('\n');
  return rows.map((row, index) => `${branches}${index === 0 ? '' : GOES_ON}${row}`);
}

const GOES_ON = '  ';
