/** Makes untrusted text safe to display: control characters become symbols, and all line ends become newlines. */
export function safeText(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  return lines.replaceAll(controls, (character) => pictureOf(character.charCodeAt(0)));
}

// All control characters except tab and newline. The characters of the last two ranges change the direction of the text
// around them.
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function pictureOf(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
