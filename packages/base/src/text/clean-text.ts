/**
 * Cleans text that a server sent, because the model trusts it like our own text. Removes characters that people cannot
 * see but a model reads: control characters except line breaks and tabs, zero-width and direction marks, and the tag
 * characters and variation selectors that can hide whole sentences.
 */
const invisible = /(?![\t\n])\p{Cc}|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu;

/** Cleans a text, and cuts it to `longest` characters. */
export function cleanText(text: string, longest: number): string {
  const clean = text.toWellFormed().replaceAll(invisible, '');
  return clean.length > longest ? `${clean.slice(0, longest).toWellFormed()}…` : clean;
}
