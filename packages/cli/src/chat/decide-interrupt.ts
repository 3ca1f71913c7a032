/** Everything that decides what Ctrl-C does. */
export interface Interruptible {
  /** True while a question waits for an answer. */
  readonly isAsking: boolean;
  /** `cancelling`: Ctrl-C has cancelled the turn, but the turn has not ended yet. */
  readonly turn: 'none' | 'running' | 'cancelling';
  readonly hasDraft: boolean;
  /** True when Ctrl-C was pressed a moment ago and there was nothing to interrupt. */
  readonly isRepeated: boolean;
}

export type Interruption =
  /** Leaves the question unanswered. */
  | 'withdraw'
  | 'cancel'
  /** Quits although a cancelled turn has not ended. */
  | 'quit-now'
  | 'clear'
  /** Warns that the next Ctrl-C quits. */
  | 'warn'
  | 'quit';

/** A second Ctrl-C within this time quits. */
export const AGAIN_MS = 2_000;

export function decideInterrupt({ isAsking, turn, hasDraft, isRepeated }: Interruptible): Interruption {
  if (turn === 'cancelling') return 'quit-now';
  if (isAsking) return 'withdraw';
  if (turn === 'running') return 'cancel';
  if (hasDraft) return 'clear';
  return isRepeated ? 'quit' : 'warn';
}
