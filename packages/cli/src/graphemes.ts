/** Splits text as a terminal does: into visible characters, each with the number of columns it takes. */
let segmenter: Intl.Segmenter | undefined;

/**
 * Matches printable ASCII, in which each character takes one column. Most texts match, and are split without the slower
 * segmenter.
 */
const plain = /^[\x20-\x7e]*$/;

/** Splits a text into visible characters. The text must already be escaped. */
export function* graphemes(text: string): Generator<{ readonly text: string; readonly width: number }> {
  if (plain.test(text)) {
    for (const character of text) yield { text: character, width: 1 };
    return;
  }
  for (const { segment } of split(text)) yield { text: segment, width: Bun.stringWidth(segment) };
}

export function widthOf(text: string): number {
  return plain.test(text) ? text.length : Bun.stringWidth(text);
}

/** Returns the offsets at which the characters of a text begin, and the length of the text. */
export function boundaries(text: string): number[] {
  const starts = plain.test(text)
    ? Array.from({ length: text.length }, (_, index) => index)
    : Array.from(split(text), ({ index }) => index);
  return [...starts, text.length];
}

/** Makes the segmenter for the first text that needs it, because most commands print plain text only. */
function split(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}
