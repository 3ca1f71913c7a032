/**
 * A text of a model, a tool or an extension, as a person may be shown it: what would move the cursor, turn the direction of
 * writing or not be seen at all is written out, so that nobody approves what they cannot see.
 */
export function showText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\u2800\u3164\u115f\u1160\uffa0]/gu, writeOut);
}

function writeOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
