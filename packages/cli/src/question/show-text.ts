/**
 * Escapes every character of an untrusted text that moves the cursor, changes the writing direction or is invisible, so
 * that nobody approves a call they cannot see.
 */
export function showText(text: string): string {
  return text.replaceAll(unseen, writeOut);
}

// Variation selectors can hide whole sentences. The one after an emoji is common, so it stays.
export const unseen = /(?!\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

function writeOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
