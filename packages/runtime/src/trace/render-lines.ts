/** The lines of a rendered tree. The end of a line may be cut to the width of a terminal, which the tree does not know. */

export type Line = string | CutLine;

export interface CutLine {
  readonly start: string;
  /** The plain text after `start`. As much of it as fits is shown. */
  readonly rest: string;
  readonly paint: (text: string) => string;
}

/** Puts lines one level deeper into the tree. */
export function indent(lines: readonly Line[]): Line[] {
  return lines.map((line) => (typeof line === 'string' ? `│ ${line}` : { ...line, start: `│ ${line.start}` }));
}

export function joinLines(lines: readonly Line[], fit: (start: string, text: string) => string): string {
  return lines.map((line) => (typeof line === 'string' ? line : finish(line, fit))).join('\n');
}

function finish({ start, rest, paint }: CutLine, fit: (start: string, text: string) => string): string {
  const shown = fit(`${start} `, rest);
  return shown === '' ? start : `${start} ${paint(shown)}`;
}
