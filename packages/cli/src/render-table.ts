import { padToWidth } from './fit-width.ts';
import { widthOf } from './graphemes.ts';
import { harmlessText } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

/** Renders a table with a line of heads. Put the longest column last: it is not padded. */
export function renderTable(
  heads: readonly string[],
  table: readonly (readonly string[])[],
  { colors }: Pick<Terminal, 'colors'>,
): string {
  const rows = table.map((row) => row.map((cell) => harmlessText(cell)));
  const widths = heads.map((_, index) => Math.max(...[heads, ...rows].map((row) => widthOf(row[index] ?? ''))));
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, index) => padToWidth(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return `${colors.dim(lineOf(heads))}\n${rows.map((row) => `${lineOf(row)}\n`).join('')}`;
}
