/** The longest text that `includes` is asked for. For a longer one, its time can grow with the product of both lengths. */
const LONGEST_SHORT = 256;

/** Tells whether a text is part of another one, in a time that grows with the sum of their lengths. */
export function hasText(text: string, wanted: string): boolean {
  if (wanted.length <= LONGEST_SHORT || wanted.length > text.length) return text.includes(wanted);
  const next = overlaps(wanted);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== wanted.charCodeAt(matched)) matched = next[matched - 1] ?? 0;
    if (code === wanted.charCodeAt(matched)) matched += 1;
    if (matched === wanted.length) return true;
  }
  return false;
}

/**
 * Returns, for each beginning of a text, the length of the longest shorter beginning with which it ends
 * (Knuth, Morris and Pratt).
 */
function overlaps(text: string): Uint32Array {
  const lengths = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (length > 0 && code !== text.charCodeAt(length)) length = lengths[length - 1] ?? 0;
    if (code === text.charCodeAt(length)) length += 1;
    lengths[at] = length;
  }
  return lengths;
}
