/** Times for people: local at a terminal, like the clock on the wall, and UTC in a pipe, so that programs can read them. */
import type { Terminal } from './terminal.ts';

/**
 * Formats a time: `2026-01-02 03:04:05` at a terminal, `2026-01-02T03:04:05Z` in a pipe. A text that is not a time is
 * returned unchanged.
 */
export function showTime(
  time: Date | string,
  { isWatched }: Pick<Terminal, 'isWatched'>,
  precision: 'seconds' | 'milliseconds' = 'seconds',
): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return typeof time === 'string' ? time : 'unknown';
  const isExact = precision === 'milliseconds';
  if (!isWatched) return isExact ? at.toISOString() : `${at.toISOString().slice(0, 19)}Z`;
  const rest = isExact ? `.${String(at.getMilliseconds()).padStart(3, '0')}` : '';
  return `${localDate(at)} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':')}${rest}`;
}

/** Formats a time like `showTime`, without its date. */
export function showClock(time: Date, terminal: Pick<Terminal, 'isWatched'>): string {
  return showTime(time, terminal).replace(/^\d+-\d\d-\d\d[ T]/, '');
}

/** Returns the date of the calendar on the wall: `2026-01-31`. */
export function localDate(at: Date): string {
  return [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join('-');
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
