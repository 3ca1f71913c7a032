/**
 * The wall clock of a time zone. A wall time is a number: the milliseconds since 1970 as if the wall clock showed UTC.
 * So counting days and comparing times needs no calendar.
 *
 * Invariants:
 * 1. A wall time that occurs twice, because clocks go back, maps to the first of the two moments.
 * 2. A wall time that never occurs, because clocks go forward, maps to the moment of the change.
 * 3. So each wall time maps to one moment, and a later wall time never maps to an earlier moment.
 */

const MINUTE = 60_000;
const DAY = 86_400_000;
/** The maximum number of minutes in the cache. When it is reached, the cache is cleared. */
const MOST_KNOWN = 20_000;

/** Makes the wall clock of a time zone. Throws a `RangeError` for an unknown zone. */
export function wallClock(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const known = new Map<number, number>();

  /** Returns the offset to add to a moment to get the wall time. It is constant within a minute. */
  const offsetAt = (moment: number): number => {
    const minute = Math.floor(moment / MINUTE) * MINUTE;
    const found = known.get(minute);
    if (found !== undefined) return found;
    if (known.size >= MOST_KNOWN) known.clear();
    const offset = readWall(format, minute) - minute;
    known.set(minute, offset);
    return offset;
  };

  const toWall = (moment: number): number => moment + offsetAt(moment);

  const toMoment = (wall: number): number => {
    // No time zone differs from UTC by more than a day.
    const [before, after] = [offsetAt(wall - DAY), offsetAt(wall + DAY)];
    const moments = [wall - before, wall - after].toSorted((a, b) => a - b);
    return moments.find((moment) => toWall(moment) === wall) ?? firstAfterGap(toWall, wall, moments[0] ?? wall);
  };

  return { toWall, toMoment };
}

/** Finds the first minute whose wall time is later than `wall`, searching from `from` on. */
function firstAfterGap(toWall: (moment: number) => number, wall: number, from: number): number {
  let [early, late] = [from - 2 * DAY, from + 2 * DAY];
  while (late - early > MINUTE) {
    const middle = early + Math.floor((late - early) / 2 / MINUTE) * MINUTE;
    if (toWall(middle) > wall) late = middle;
    else early = middle;
  }
  return late;
}

function readWall(format: Intl.DateTimeFormat, moment: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(moment)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
