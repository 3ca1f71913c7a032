/**
 * The lines of the chat as data. Their texts are untrusted: they may come from a model, a tool or anybody else. Only
 * `render-line.ts` converts them for a terminal and escapes them. Nothing else writes to the screen.
 */
export type Style = 'bold' | 'dim' | 'italic' | 'red' | 'green' | 'yellow' | 'cyan';

export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** One line of text, which may be wrapped to several rows. */
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
