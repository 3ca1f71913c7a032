/**
 * A model must not drive the terminal: what it, a tool or a file says is shown, never obeyed. Control characters are
 * shown as their pictures, and what would turn the direction of text around as �: what is read is what is there.
 */

/** Of one line: a line break in it is shown, too. A tab stays. */
export function harmlessText(text: string): string {
  return text.toWellFormed().replaceAll(harmful, picture);
}

/** Of several lines, which stay lines. */
export function harmlessLines(text: string): string {
  return text.split(/\r?\n/).map(harmlessText).join('\n');
}

/**
 * Of everything that a command prints: its lines and its own colours stay. Colours are all that somebody else's words can
 * still do where they were not made harmless one by one, and none of these hides anything.
 */
export function harmlessOutput(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(ownOrHarmful, (found) => (found === '\n' || found.length > 1 ? found : picture(found)));
}

// C0 without the tab, DEL and C1; line and paragraph separators; embedding, override and isolation of direction.
// oxlint-disable-next-line no-control-regex
const harmful = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

// Bold, dim and back, the colours but black and back, as picocolors writes them; the end of a line.
const ownOrHarmful = new RegExp(`\\u001b\\[(?:1|2|22|3[1-69])m|\\r\\n|${harmful.source}`, 'g');

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
