/** Renders tables. In a narrow terminal, the columns that do not fit continue in an indented line below. */
import { cutToWidth, padToWidth, PIPED } from './fit-width.ts';
import { widthOf } from './graphemes.ts';
import { harmlessText } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

const GAP = '  ';
/** The fewest columns for a text that is cut. */
const LEAST_TEXT = 12;

/**
 * Renders a table with a line of heads. Put the longest column last: it is not padded. `cutsLast`: cuts its texts to the
 * line. `alignsRight`: aligns all columns but the first to the right.
 */
export function renderTable(
  heads: readonly string[],
  table: readonly (readonly string[])[],
  { colors, columns }: Pick<Terminal, 'colors' | 'columns'>,
  { cutsLast = false, alignsRight = false } = {},
): string {
  const rows = table.map((row) => row.map((cell) => harmlessText(cell)));
  const natural = heads.map((_, index) => Math.max(...[heads, ...rows].map((row) => widthOf(row[index] ?? ''))));
  const last = heads.length - 1;
  const lines = breakColumns(
    natural.map((width, index) => (cutsLast && index === last ? Math.min(width, LEAST_TEXT) : width)),
    columns,
  );
  const room = (columns ?? PIPED) - taken(natural, lines.at(-1)?.slice(0, -1) ?? [], lines.length > 1);
  const cellAt = (row: readonly string[], index: number) => {
    const cell = row[index] ?? '';
    if (cutsLast && index === last) return cutToWidth(cell, room);
    const padded = padToWidth(cell, natural[index] ?? 0);
    return alignsRight && index > 0 ? padded.slice(cell.length) + cell : padded;
  };
  const render = (row: readonly string[]) =>
    lines
      .map((line, at) => `${at === 0 ? '' : GAP}${line.map((index) => cellAt(row, index)).join(GAP)}`.trimEnd())
      .join('\n');
  return `${colors.dim(render(heads))}\n${rows.map((row) => `${render(row)}\n`).join('')}`;
}

/** Returns the indices of the columns of each line. Outside of a terminal all are in one line. */
function breakColumns(widths: readonly number[], columns = Infinity): number[][] {
  const lines: number[][] = [];
  for (const [index, width] of widths.entries()) {
    const line = lines.at(-1);
    if (line === undefined || taken(widths, line, lines.length > 1) + width > columns) lines.push([index]);
    else line.push(index);
  }
  return lines;
}

/** Returns the width of these columns, with a gap behind each. */
function taken(widths: readonly number[], line: readonly number[], isIndented: boolean): number {
  const indent = isIndented ? GAP.length : 0;
  return line.reduce((sum, index) => sum + (widths[index] ?? 0) + GAP.length, indent);
}
