import type { Moment } from '@goondan/runtime/history';

/** What `--at` names: the number of an event, or a turn. No turn's id is a number. */
export function readMoment(text: string): Moment {
  return /^\d+$/.test(text) ? Number(text) : text;
}
