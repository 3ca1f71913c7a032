import { describeDuration } from './describe-duration.ts';
import { writeOut } from './show-value.ts';
import type { GivenAnswer, LayerRecord } from './turn-trace.ts';

/** Describes how long a part of a chain waited for people, and their answers; `undefined` if it asked nobody. */
export function describeWait({
  waitedMs,
  answers = [],
}: Pick<LayerRecord, 'waitedMs' | 'answers'>): string | undefined {
  if (waitedMs === undefined) return undefined;
  // Names come from clients of the swarm.
  const words = answers.map((answer) => writeOut(describeAnswer(answer)));
  return `waited for a person ${[describeDuration(waitedMs), ...words].join(', ')}`;
}

/** Describes the answer of a person, as in `approved by ann via chat`. */
export function describeAnswer({ kind, decision, by, via, args, question, grant }: GivenAnswer): string {
  const who = `${by === undefined ? '' : ` by ${by}`}${via === undefined ? '' : ` via ${via}`}`;
  if (grant !== undefined) return `always allowed${who} (${grant})`;
  const verdict = `${nameVerdict(kind, decision)}${who}`;
  if (args === undefined) return verdict;
  const where = question === undefined ? '' : ` (${question})`;
  return `${verdict} with other arguments${where}: ${JSON.stringify(args)}`;
}

const verdicts = { approved: 'answered', denied: 'declined', expired: 'expired' } as const;

/** Returns one word for the end of a question: a form and a page are answered or declined, not approved or denied. */
export function nameVerdict(kind: string | undefined, decision: GivenAnswer['decision']): string {
  return kind === 'form' || kind === 'page' ? verdicts[decision] : decision;
}
