/**
 * Makes texts of models, tools and extensions safe for a terminal: characters that move the cursor, change the writing
 * direction or are invisible are escaped. Joiners inside words and emoji stay.
 */

const LONGEST = 200;

/** Puts a text on one line, cut to 200 characters. */
export function shortLine(text: string): string {
  // Cut first, because the text may be very long.
  const beginning = text.slice(0, LONGEST).toWellFormed();
  return `${writeOut(beginning.replaceAll(/\s+/g, ' '))}${text.length > LONGEST ? '…' : ''}`;
}

/** Returns all lines of the text, and prefixes each line with `sign`. */
export function wholeText(sign: string, text: string): string[] {
  return text.split(/\r?\n/).map((line) => `${sign} ${writeOut(line.toWellFormed())}`);
}

const unseen =
  /(?!(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}]))[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]/gu;

/** Escapes the characters that a terminal would not show as they are. */
export function writeOut(text: string): string {
  return text.replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
