import type { TurnList, WorkspaceView } from '@goondan/cli/studio';

/** An accepted input that is not in the conversation yet. It appears there when its turn is committed. */
export interface SentInput {
  readonly turnId: string;
  /** Absent for inputs that another client sent. */
  readonly eventId?: string;
  readonly text: string;
}

/** The end of the id of an input's message. It begins with the id of the turn that its event would have of its own. */
const INPUT = '.input';

/** Returns the ids of turns whose inputs are among the messages, also of those that a running turn took. */
export function toldInputs(messages: readonly { readonly message: { readonly id: string } }[]): readonly string[] {
  return messages.flatMap(({ message: { id } }) => (id.endsWith(INPUT) ? [id.slice(0, -INPUT.length)] : []));
}

/**
 * Returns the pending inputs: the inputs of this page that have neither a committed turn nor a dead letter, and the
 * input of the running turn if another client sent it. `told` contains the ids of committed turns.
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
