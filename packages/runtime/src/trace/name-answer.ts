/** The words for the end of a question, in traces, logs and errors. */
import type { GivenAnswer } from './turn-trace.ts';

const verdicts = { approved: 'answered', denied: 'declined', expired: 'expired' } as const;

/** Returns one word for the end of a question: a form and a page are answered or declined, not approved or denied. */
export function nameVerdict(kind: string | undefined, decision: GivenAnswer['decision']): string {
  return kind === 'form' || kind === 'page' ? verdicts[decision] : decision;
}

/** Names the person who answered and their door, as in ` by ann via chat`; empty if both are unknown. */
export function nameDoor({ by, via }: Pick<GivenAnswer, 'by' | 'via'>): string {
  return `${by === undefined ? '' : ` by ${by}`}${via === undefined ? '' : ` via ${via}`}`;
}
