import type { TimelineView } from '@goondan/cli/studio';

/** What was sent from this page: shown until its turn is committed and says it itself. */
export interface SentInput {
  readonly turnId: string;
  readonly text: string;
}

export function isTold({ turnId }: SentInput, timeline: Pick<TimelineView, 'turns'> | undefined): boolean {
  return timeline?.turns.findLast((turn) => turn.turnId === turnId) !== undefined;
}
