/**
 * Escapes every character of an untrusted text that moves the cursor, changes the writing direction or is invisible, so
 * that nobody approves a call they cannot see.
 */
export function showText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\u2800\u3164\u115f\u1160\uffa0]/gu, writeOut);
}

function writeOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
