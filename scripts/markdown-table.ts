/** Writes a Markdown table with the layout of `npm run format`. Returns an empty text when there are no rows. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const cells = [head, ...rows].map((row) => row.map(escapeCell));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => Bun.stringWidth(row[column] ?? ''))));
  const [first = [], ...rest] = cells;
  const rule = widths.map((width) => '-'.repeat(width));
  return `${[first, rule, ...rest].map((row) => tableLine(row, widths)).join('\n')}\n`;
}

function tableLine(row: readonly string[], widths: readonly number[]): string {
  const padded = widths.map((width, column) => {
    const cell = row[column] ?? '';
    return cell + ' '.repeat(width - Bun.stringWidth(cell));
  });
  return `| ${padded.join(' | ')} |`;
}

function escapeCell(text: string): string {
  return text.replaceAll('\n', ' ').replaceAll('|', '\\|');
}
