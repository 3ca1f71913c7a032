import { type Band, listBands, type SpanBand } from './bands.ts';
import { errorOf, hasFailed } from './describe-band.ts';

/** If a turn has more bands than this, its steps are closed at first. */
const MOST_OPEN = 150;

/** Returns the ids of the bands that are closed at first. */
export function closedAtFirst(whole: Band): ReadonlySet<string> {
  const bands = listBands(whole);
  if (bands.length <= MOST_OPEN) return new Set();
  // A step stays open if an error began inside it.
  const steps = bands.filter(({ type, kind, passedOn }) => type === 'chain' && kind === 'step' && !passedOn);
  return new Set(steps.map(({ id }) => id));
}

/** Returns the band that is chosen at first: in a failed turn, the one in which the error began, if it is visible. */
export function chosenAtFirst(whole: SpanBand, closed: ReadonlySet<string>): Band {
  if (whole.turn?.ending !== 'failed') return whole;
  const { error } = whole.chain;
  const bands = seenBands(whole, closed);
  // A tool may have failed with another error, which the model got.
  const origin = bands.findLast((band) => hasFailed(band) && errorOf(band) === error);
  if (origin !== undefined || error?.startsWith('E_AGENT_FAILED') !== true) return origin ?? whole;
  // The error of a called agent is only a part of the text.
  const called = bands.findLast(
    (band): band is SpanBand => band !== whole && band.type === 'chain' && band.turn?.ending === 'failed',
  );
  return called === undefined ? whole : chosenAtFirst(called, closed);
}

/**
 * Lists the visible bands, from the outside in and from top to bottom: the bands inside a closed band are not visible.
 */
export function seenBands(band: Band, closed: ReadonlySet<string>): readonly Band[] {
  return closed.has(band.id) ? [band] : [band, ...band.inside.flatMap((each) => seenBands(each, closed))];
}
