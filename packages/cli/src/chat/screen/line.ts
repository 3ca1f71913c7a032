/**
 * What the chat shows, as data. A text in it may come from a model, a tool or anybody: only `render-line.ts` turns it
 * into what a terminal gets, and makes it harmless on the way. There is no other road to the screen.
 */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** One line, however many rows it takes. */
export type Line = readonly Span[];

export const emptyLine: Line = [];

export function line(text: string, style?: Style): Line {
  return [span(text, style)];
}

export function span(text: string, style?: Style): Span {
  return style === undefined ? { text } : { text, style };
}

/** A text of several lines. */
export function linesOf(text: string, style?: Style): Line[] {
  return text.split(/\r?\n/).map((each) => line(each, style));
}
