/**
 * Shortens values for files and displays. Secrets are masked before the cut, because a secret that was cut in half
 * would not be found.
 */
import { markCut, type Shorten } from '../json/diff-json.ts';
import { previewJson } from '../json/preview-json.ts';
import { type Mask, maskBeginning } from './mask-secrets.ts';

/** How many characters more than the wanted ones are read. */
const MORE = 64;
/** The same, if masked secrets made the text shorter than half the wanted length. */
const MORE_FOR_SECRETS = 4_096;

export function shortenMasked(mask: Mask): Shorten {
  const read = (value: unknown, length: number) => {
    const { text, isCut } = previewJson(value, length);
    return { isCut, shown: isCut ? maskBeginning(text, mask) : mask(text) };
  };
  return (value, longest) => {
    let { isCut, shown } = read(value, longest + MORE);
    if (isCut && shown.length < longest / 2) ({ isCut, shown } = read(value, longest + MORE_FOR_SECRETS));
    return isCut || shown.length > longest ? markCut(shown.slice(0, longest), value) : shown;
  };
}
