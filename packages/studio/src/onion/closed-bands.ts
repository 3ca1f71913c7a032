import { type Band, listBands } from './bands.ts';

/** If a turn has more bands than this, its steps are closed at first. */
const MOST_OPEN = 150;

/** Returns the ids of the bands that are closed at first. */
export function closedAtFirst(whole: Band): ReadonlySet<string> {
  const bands = listBands(whole);
  if (bands.length <= MOST_OPEN) return new Set();
  return new Set(bands.filter(({ type, kind }) => type === 'chain' && kind === 'step').map(({ id }) => id));
}

/**
 * Lists the visible bands, from the outside in and from top to bottom: the bands inside a closed band are not visible.
 */
export function seenBands(band: Band, closed: ReadonlySet<string>): readonly Band[] {
  return closed.has(band.id) ? [band] : [band, ...band.inside.flatMap((each) => seenBands(each, closed))];
}
