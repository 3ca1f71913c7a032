import type { Band } from './bands.ts';

/** The effect of a key in the tree: select another band, or open or close the selected band. */
export type BandStep = { readonly to: Band } | { readonly open: Band } | { readonly close: Band };

/**
 * Returns the effect of a key. The right arrow opens a band or moves into it, and the left arrow closes a band or moves
 * out of it, as in every tree. `bands` are the visible bands.
 */
export function stepToBand(
  bands: readonly Band[],
  closed: ReadonlySet<string>,
  from: Band,
  key: string,
): BandStep | undefined {
  const place = bands.findIndex(({ id }) => id === from.id);
  const isClosed = closed.has(from.id);
  const hasInside = from.inside.length > 0;
  switch (key) {
    case 'ArrowDown':
      return toBand(bands[place + 1]);
    case 'ArrowUp':
      return toBand(bands[place - 1]);
    case 'ArrowRight':
      return isClosed ? { open: from } : toBand(from.inside[0]);
    case 'ArrowLeft':
      if (hasInside && !isClosed) return { close: from };
      return toBand(bands.find(({ inside }) => inside.some(({ id }) => id === from.id)));
    case ' ':
      if (!hasInside) return undefined;
      return isClosed ? { open: from } : { close: from };
    case 'Home':
      return toBand(bands[0]);
    case 'End':
      return toBand(bands.at(-1));
    default:
      return undefined;
  }
}

function toBand(band: Band | undefined): BandStep | undefined {
  return band === undefined ? undefined : { to: band };
}
