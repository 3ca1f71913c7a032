/**
 * Splits a text by the inline Markdown that most answers use. Marks that are not closed, or that span lines, stay as
 * text.
 */
export interface Inline {
  readonly type: 'text' | 'code' | 'strong';
  readonly text: string;
}

const marks = /`(?<code>[^`\n]+)`|\*\*(?<strong>[^*\s](?:[^*\n]*[^*\s])?)\*\*|^#{1,4} +(?<heading>[^\n]+)$/gm;

export function splitInline(text: string): readonly Inline[] {
  const pieces: Inline[] = [];
  let from = 0;
  for (const { index, 0: whole, groups } of text.matchAll(marks)) {
    if (index > from) pieces.push({ type: 'text', text: text.slice(from, index) });
    const { code, strong, heading } = groups ?? {};
    pieces.push(code === undefined ? { type: 'strong', text: strong ?? heading ?? '' } : { type: 'code', text: code });
    from = index + whole.length;
  }
  if (from < text.length) pieces.push({ type: 'text', text: text.slice(from) });
  return pieces;
}
