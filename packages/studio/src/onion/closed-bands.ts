import { type Band, listBands, type SpanBand } from './bands.ts';
import { hasFailed } from './describe-band.ts';

/** If a turn has more bands than this, its steps are closed at first. */
const MOST_OPEN = 150;

/** Returns the ids of the bands that are closed at first. */
export function closedAtFirst(whole: Band): ReadonlySet<string> {
  const bands = listBands(whole);
  if (bands.length <= MOST_OPEN) return new Set();
  return new Set(bands.filter(({ type, kind }) => type === 'chain' && kind === 'step').map(({ id }) => id));
}

/** Returns the band that is chosen at first: in a failed turn, the one in which the error began, if it is visible. */
export function chosenAtFirst(whole: SpanBand, closed: ReadonlySet<string>): Band {
  const origin = whole.turn?.ending === 'failed' ? seenBands(whole, closed).findLast(hasFailed) : undefined;
  return origin ?? whole;
}

/**
 * Lists the visible bands, from the outside in and from top to bottom: the bands inside a closed band are not visible.
 */
export function seenBands(band: Band, closed: ReadonlySet<string>): readonly Band[] {
  return closed.has(band.id) ? [band] : [band, ...band.inside.flatMap((each) => seenBands(each, closed))];
}
