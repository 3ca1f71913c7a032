import type { Moment } from '@goondan/runtime/history';

/**
 * Reads the value of `--at`: the number of an event, or the id of a turn. The beginning of an id may have only digits, but
 * is longer than numbers usually are, so a text of 8 or more digits may be either.
 */
export function readMoment(text: string): Moment {
  return /^\d{1,7}$/.test(text) ? Number(text) : text;
}
