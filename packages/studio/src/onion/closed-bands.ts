import { type Band, listBands } from './bands.ts';

/** A turn of more bands than this begins with its steps closed: first the whole, then what is inside. */
const MOST_OPEN = 150;

/** The ids of those that are closed before anybody closed or opened one. */
export function closedAtFirst(whole: Band): ReadonlySet<string> {
  const bands = listBands(whole);
  if (bands.length <= MOST_OPEN) return new Set();
  return new Set(bands.filter(({ type, kind }) => type === 'chain' && kind === 'step').map(({ id }) => id));
}

/** Outside first, top to bottom, without what is inside a closed one. */
export function seenBands(band: Band, closed: ReadonlySet<string>): readonly Band[] {
  return closed.has(band.id) ? [band] : [band, ...band.inside.flatMap((each) => seenBands(each, closed))];
}
