/** Lays out a table of Markdown in the width of the terminal. */
import { emptyLine, type Line, line, type Span, span } from '../screen/line.ts';
import { widthOfLine, wrapProse } from '../screen/wrap-line.ts';

const GAP = '  ';
/** A column that is this narrow is not made narrower. */
const NARROW = 8;

/** If there is no room for all columns side by side, each row becomes a list of its cells. */
export function tableLines(
  head: readonly Line[],
  rows: readonly (readonly Line[])[],
  align: readonly (string | null)[],
  columns: number,
): Line[] {
  const bold = head.map((cell) => cell.map(({ text }) => span(text, 'bold')));
  const widths = fitWidths(naturalWidths([head, ...rows]), columns - GAP.length * (head.length - 1));
  if (widths === undefined) return (rows.length === 0 ? [[]] : rows).flatMap((row) => listCells(bold, row, columns));
  const rule = line(widths.map((width) => '─'.repeat(width)).join(GAP), 'dim');
  return [...layOutRow(bold, widths, align), rule, ...rows.flatMap((row) => layOutRow(row, widths, align))];
}

function naturalWidths(rows: readonly (readonly Line[])[]): number[] {
  const [head = []] = rows;
  return head.map((_, index) => Math.max(1, ...rows.map((row) => widthOfLine(row[index] ?? emptyLine))));
}

/** Makes the widest columns narrower until all fit into `room`. Returns `undefined` if they cannot fit. */
function fitWidths(natural: readonly number[], room: number): number[] | undefined {
  const widths = [...natural];
  for (let over = widths.reduce((sum, width) => sum + width, -room); over > 0; over -= 1) {
    const widest = Math.max(...widths);
    if (widest <= NARROW) return undefined;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function layOutRow(row: readonly Line[], widths: readonly number[], align: readonly (string | null)[]): Line[] {
  const cells = widths.map((width, index) => wrapProse(row[index] ?? emptyLine, width));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, number) =>
    widths.flatMap((width, index) => {
      const cell = cells[index]?.[number] ?? emptyLine;
      const gap = index === 0 ? [] : [span(GAP)];
      const isLast = index === widths.length - 1;
      return [...gap, ...alignCell(cell, width - widthOfLine(cell), align[index] ?? null, isLast)];
    }),
  );
}

function alignCell(cell: Line, room: number, align: string | null, isLast: boolean): Span[] {
  const before = align === 'right' ? room : align === 'center' ? Math.floor(room / 2) : 0;
  const after = isLast ? 0 : room - before;
  return [blank(before), ...cell, blank(after)].filter(({ text }) => text !== '');
}

function blank(width: number): Span {
  return span(' '.repeat(width));
}

function listCells(head: readonly Line[], row: readonly Line[], columns: number): Line[] {
  return [
    ...head.flatMap((name, index) => wrapProse([...name, span(': '), ...(row[index] ?? [])], columns)),
    emptyLine,
  ];
}
