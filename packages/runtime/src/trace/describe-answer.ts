import type { GivenAnswer } from './turn-trace.ts';

/** Describes the answer of a person, as in `approved by ann`. */
export function describeAnswer({ decision, by }: GivenAnswer): string {
  return by === undefined ? decision : `${decision} by ${by}`;
}
