/** Values in short, for what is written down: secrets are masked before anything is cut, because half of one would not be found any more. */
import { markCut, type Shorten } from './diff-json.ts';
import { previewJson } from './preview-json.ts';

/** `longestSecret`: of the texts that `mask` replaces. */
export function shortenMasked(mask: (text: string) => string, longestSecret: number): Shorten {
  return (value, longest) => {
    const { text, isCut } = previewJson(value, longest + longestSecret);
    const masked = mask(text);
    if (!isCut && masked.length <= longest) return masked;
    // What was looked at may end in the middle of a secret; a mask before it may have moved that forward.
    const safe = isCut ? masked.length - longestSecret : masked.length;
    return markCut(masked.slice(0, Math.max(0, Math.min(longest, safe))), value);
  };
}
