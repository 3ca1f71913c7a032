import type { GivenAnswer } from './turn-trace.ts';

/** Describes the answer of a person, as in `approved by ann via chat`. */
export function describeAnswer({ decision, by, via, args, question, grant }: GivenAnswer): string {
  const who = `${by === undefined ? '' : ` by ${by}`}${via === undefined ? '' : ` via ${via}`}`;
  if (grant !== undefined) return `always allowed${who} (${grant})`;
  if (args === undefined) return `${decision}${who}`;
  const where = question === undefined ? '' : ` (${question})`;
  return `${decision}${who} with other arguments${where}: ${JSON.stringify(args)}`;
}
