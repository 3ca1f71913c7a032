/**
 * Shortens values for files and displays. Secrets are masked before the cut, because a secret that was cut in half
 * would not be found.
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
    // The preview may end in the middle of a secret, which was not masked. The last `reach` characters are removed,
    // because they may contain this part.
    const safe = isCut ? masked.length - reach : masked.length;
    return markCut(masked.slice(0, Math.max(0, Math.min(longest, safe))), value);
  };
}
