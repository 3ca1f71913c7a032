/**
 * The lines of the chat as data. Their texts may come from a model, a tool or anybody else: only `render-line.ts`
 * converts them for a terminal, and makes them harmless. Nothing else writes to the screen.
 */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** One line, which may take several rows. */
export type Line = readonly Span[];

export const emptyLine: Line = [];

export function line(text: string, style?: Style): Line {
  return [span(text, style)];
}

export function span(text: string, style?: Style): Span {
  return style === undefined ? { text } : { text, style };
}

/** Splits a text into lines. */
export function linesOf(text: string, style?: Style): Line[] {
  return text.split(/\r?\n/).map((each) => line(each, style));
}
