import type { TurnList, WorkspaceView } from '@goondan/cli/studio';

/** An input that is not in the conversation yet: its turn adds it with the commit. */
export interface SentInput {
  readonly turnId: string;
  /** Absent for inputs of others. */
  readonly eventId?: string;
  readonly text: string;
}

/**
 * Returns the pending inputs: those of this page without a committed turn or a dead letter, and another person's input of
 * the running turn. `told` are the committed turns.
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
