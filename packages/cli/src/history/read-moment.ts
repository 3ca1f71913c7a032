import type { Moment } from '@goondan/runtime/history';

/** Reads the value of `--at`: the number of an event, or the id of a turn. Turn ids are never numbers. */
export function readMoment(text: string): Moment {
  return /^\d+$/.test(text) ? Number(text) : text;
}
