import { LONGEST_GLOB } from '@goondan/types';

/** The maximum length of a text, in characters. For a longer text a matcher returns `undefined`. */
export const LONGEST_TEXT = 10_000;

/** The steps that are left for several matches together. A match takes some of them. */
export interface MatchWork {
  left: number;
}

/** Tells whether a text matches; `undefined` when the text is too long to examine, or the work is used up. */
export type Matcher = (text: string, work?: MatchWork) => boolean | undefined;

/**
 * Compiles a glob: `*` matches any number of characters, including line breaks, `?` matches one, and all other
 * characters match themselves. The whole text must match. Throws an `Error` when the glob is too long.
 */
export function compileGlob(glob: string): Matcher {
  const pattern = Array.from(glob);
  if (pattern.length > LONGEST_GLOB) throw new Error(`the pattern "${glob}" is too long`);
  return (text, work = { left: Infinity }) => {
    if (text.length > LONGEST_TEXT) return undefined;
    work.left -= text.length;
    return work.left < 0 ? undefined : matches(pattern, Array.from(text), work);
  };
}

/**
 * Each `*` first takes no character. At a difference, the latest `*` takes one more, and never an earlier one: what it
 * could take, the latest one can take too. So the time is at most the length of the pattern times that of the text.
 */
function matches(pattern: readonly string[], text: readonly string[], work: MatchWork): boolean | undefined {
  let inPattern = 0;
  let inText = 0;
  let latest: { readonly afterStar: number; readonly taken: number } | undefined;
  while (inText < text.length) {
    work.left -= 1;
    if (work.left < 0) return undefined;
    const wanted = pattern[inPattern];
    if (wanted === '*') {
      inPattern += 1;
      latest = { afterStar: inPattern, taken: inText };
    } else if (wanted === '?' || wanted === text[inText]) {
      inPattern += 1;
      inText += 1;
    } else {
      if (latest === undefined) return false;
      latest = { ...latest, taken: latest.taken + 1 };
      inPattern = latest.afterStar;
      inText = latest.taken;
    }
  }
  return pattern.slice(inPattern).every((wanted) => wanted === '*');
}
