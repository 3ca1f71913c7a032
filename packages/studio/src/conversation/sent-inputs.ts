import type { TurnList, WorkspaceView } from '@goondan/cli/studio';

/** What was asked and is not in the conversation yet: its turn says it itself when it is committed. */
export interface SentInput {
  readonly turnId: string;
  /** Absent of what somebody else asked. */
  readonly eventId?: string;
  readonly text: string;
}

/**
 * Of what was sent from this page, what is not told or given up yet; and what the turn that runs was asked by somebody
 * else. `told`: the turns that are.
 */
export function pendingInputs(
  sent: readonly SentInput[],
  told: ReadonlySet<string>,
  deadLetters: WorkspaceView['deadLetters'],
  running?: TurnList['turns'][number],
): readonly SentInput[] {
  const isOver = ({ eventId }: SentInput) => deadLetters.some((letter) => letter.eventId === eventId);
  const open = sent.filter((input) => !told.has(input.turnId) && !isOver(input));
  const isOthers =
    running !== undefined && !told.has(running.turnId) && open.every(({ turnId }) => turnId !== running.turnId);
  return isOthers && running.input !== undefined ? [{ turnId: running.turnId, text: running.input }, ...open] : open;
}
