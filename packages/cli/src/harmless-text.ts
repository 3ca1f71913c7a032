/**
 * Escapes untrusted texts, because a model, a tool or a file must not control the terminal. Control characters become
 * visible symbols, and characters that change the text direction become �.
 */

/** Escapes a single line: line breaks become symbols, too. Tabs stay. */
export function harmlessText(text: string): string {
  return text.toWellFormed().replaceAll(harmful, picture);
}

/** Escapes a sentence that may have several lines, as one line: each line break becomes a space. */
export function harmlessSentence(text: string): string {
  return harmlessText(text.trim().replaceAll(/\s*[\r\n]\s*/g, ' '));
}

/** Escapes several lines; line breaks stay. */
export function harmlessLines(text: string): string {
  return text.split(/\r?\n/).map(harmlessText).join('\n');
}

/**
 * Escapes the whole output of a command, but keeps line breaks and the colours that `gdn` uses. Untrusted text that was
 * not escaped before can at most add these colours, which hide nothing.
 */
export function harmlessOutput(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(ownOrHarmful, (found) => (found === '\n' || found.length > 1 ? found : picture(found)));
}

// Matches control characters (C0 except the tab, DEL, C1), line and paragraph separators, and characters that change
// the direction of the text.
// oxlint-disable-next-line no-control-regex
const harmful = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

// Matches line breaks and the codes of `colors.ts`: bold, dim, italic, the colours except black, and their resets.
const ownOrHarmful = new RegExp(`\\u001b\\[(?:[1-3]|2[23]|3[1-69])m|\\r\\n|${harmful.source}`, 'g');

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
