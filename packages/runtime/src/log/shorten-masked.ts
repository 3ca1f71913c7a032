/**
 * Shortens values for files and displays: secrets are masked before the cut, because half of one would not be found.
 */
import { markCut, type Shorten } from '../json/diff-json.ts';
import { previewJson } from '../json/preview-json.ts';
import type { Mask } from './mask-secrets.ts';

export function shortenMasked(mask: Mask): Shorten {
  const { longest: reach = 0 } = mask;
  return (value, longest) => {
    const { text, isCut } = previewJson(value, longest + reach);
    const masked = mask(text);
    if (!isCut && masked.length <= longest) return masked;
    // The read part may end in the middle of a secret, and a mask before it may have moved that forward.
    const safe = isCut ? masked.length - reach : masked.length;
    return markCut(masked.slice(0, Math.max(0, Math.min(longest, safe))), value);
  };
}
