/** Decides the meaning of Ctrl-C from what there is to interrupt. */
export interface Interruptible {
  /** True while a question waits for an answer. */
  readonly isAsking: boolean;
  /** `cancelling` from the first Ctrl-C on. */
  readonly turn: 'none' | 'running' | 'cancelling';
  readonly hasDraft: boolean;
  /** True when it was pressed a moment ago with nothing to interrupt. */
  readonly isRepeated: boolean;
}

export type Interruption =
  /** Leaves the question unanswered. */
  | 'withdraw'
  | 'cancel'
  /** Quits with a turn that does not end. */
  | 'quit-now'
  | 'clear'
  /** Warns that the next Ctrl-C quits. */
  | 'warn'
  | 'quit';

/** The time in which a second Ctrl-C quits. */
export const AGAIN_MS = 2_000;

export function decideInterrupt({ isAsking, turn, hasDraft, isRepeated }: Interruptible): Interruption {
  if (turn === 'cancelling') return 'quit-now';
  if (isAsking) return 'withdraw';
  if (turn === 'running') return 'cancel';
  if (hasDraft) return 'clear';
  return isRepeated ? 'quit' : 'warn';
}
