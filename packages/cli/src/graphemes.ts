/** Text as a terminal counts it: what a person sees as one character, and how many columns it takes. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Printable ASCII: each its own character of one column. Most of what is ever shown. */
const plain = /^[\x20-\x7e]*$/;

export interface Grapheme {
  readonly text: string;
  readonly width: number;
}

/** `text` is harmless already. */
export function* graphemes(text: string): Generator<Grapheme> {
  if (plain.test(text)) {
    for (const character of text) yield { text: character, width: 1 };
    return;
  }
  for (const { segment } of segmenter.segment(text)) yield { text: segment, width: Bun.stringWidth(segment) };
}

export function widthOf(text: string): number {
  return plain.test(text) ? text.length : Bun.stringWidth(text);
}

/** Where the characters of a text begin, and its end. */
export function boundaries(text: string): number[] {
  const starts = plain.test(text)
    ? Array.from({ length: text.length }, (_, index) => index)
    : Array.from(segmenter.segment(text), ({ index }) => index);
  return [...starts, text.length];
}
