/**
 * Values in short, for what is written down or shown: secrets are masked before anything is cut, because half of one would
 * not be found any more.
 */
import { markCut, type Shorten } from './diff-json.ts';
import { previewJson } from './preview-json.ts';

export interface CuttableMask {
  (text: string): string;
  /** Of the texts it replaces, the length of the longest. */
  readonly longest?: number;
}

export function shortenMasked(mask: CuttableMask): Shorten {
  const { longest: reach = 0 } = mask;
  return (value, longest) => {
    const { text, isCut } = previewJson(value, longest + reach);
    const masked = mask(text);
    if (!isCut && masked.length <= longest) return masked;
    // What was looked at may end in the middle of a secret; a mask before it may have moved that forward.
    const safe = isCut ? masked.length - reach : masked.length;
    return markCut(masked.slice(0, Math.max(0, Math.min(longest, safe))), value);
  };
}
