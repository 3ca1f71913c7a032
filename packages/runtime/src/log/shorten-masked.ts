/**
 * Shortens values for files and displays. Secrets are masked before the cut, because a secret that was cut in half
 * would not be found.
 */
import { markCut, type Shorten } from '../json/diff-json.ts';
import { previewJson } from '../json/preview-json.ts';
import type { Mask } from './mask-secrets.ts';

export function shortenMasked(mask: Mask): Shorten {
  const { longest: reach = 0, before = mask } = mask;
  return (value, longest) => {
    const { text, isCut } = previewJson(value, longest + reach);
    // A cut preview may end in the middle of a secret, which is not masked. Such a secret begins in the last `reach`
    // characters of the preview, so these are left out.
    const masked = isCut ? before(text, Math.max(0, text.length - reach)) : mask(text);
    if (!isCut && masked.length <= longest) return masked;
    return markCut(masked.slice(0, longest), value);
  };
}
