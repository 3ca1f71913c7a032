/**
 * Writes out every character of an untrusted text that changes the writing direction, is invisible or controls a
 * terminal, so that nobody approves a text that looks different from what it is. These are the words of the terminal, too.
 */
export function showText(text: string): string {
  return text.replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : escapeUnit(code);
  });
}

/** Like `showText`, but tabs and the ends of lines stay. */
export function showLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(showText).join('\t'))
    .join('\n');
}

/** Formats a value as JSON on several lines, in which every character can be seen. It is the JSON of the same value. */
export function showJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => line.replaceAll(unseen, escapeUnits))
    .join('\n');
}

// Variation selectors can hide whole sentences. The one after an emoji is common, so it stays.
const unseen = /(?!\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

/** JSON has escapes for the halves of a long character only. */
function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => escapeUnit(character.charCodeAt(at))).join('');
}

function escapeUnit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
