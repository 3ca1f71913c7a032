/**
 * Shortens values for files and displays. Secrets are masked before the cut, because half a secret would not be found.
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
    // The text may end in the middle of a secret, and a mask earlier in the text may have shifted that end.
    const safe = isCut ? masked.length - reach : masked.length;
    return markCut(masked.slice(0, Math.max(0, Math.min(longest, safe))), value);
  };
}
