/**
 * Text of a server that the model reads as if it were ours. What nobody sees on a screen and a model reads all the same
 * is taken out: control characters but line breaks and tabs, zero-width and direction marks, and the tag characters and
 * variation selectors in which whole sentences can be hidden.
 */
const invisible = /(?![\t\n])\p{Cc}|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu;

/** Cut to so many characters. */
export function cleanText(text: string, longest: number): string {
  const clean = text.toWellFormed().replaceAll(invisible, '');
  return clean.length > longest ? `${clean.slice(0, longest).toWellFormed()}…` : clean;
}
