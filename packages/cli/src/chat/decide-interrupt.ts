/** What Ctrl-C means, by what there is to interrupt. */
export interface Interruptible {
  /** A question waits for an answer. */
  readonly isAsking: boolean;
  /** `cancelling` from the first Ctrl-C on. */
  readonly turn: 'none' | 'running' | 'cancelling';
  readonly hasDraft: boolean;
  /** It was pressed a moment ago, when there was nothing to interrupt. */
  readonly isRepeated: boolean;
}

export type Interruption =
  /** The question is not answered. */
  | 'withdraw'
  | 'cancel'
  /** With a turn that does not end. */
  | 'quit-now'
  | 'clear'
  /** Once more quits. */
  | 'warn'
  | 'quit';

/** How long "again to quit" counts. */
export const AGAIN_MS = 2_000;

export function decideInterrupt({ isAsking, turn, hasDraft, isRepeated }: Interruptible): Interruption {
  if (turn === 'cancelling') return 'quit-now';
  if (isAsking) return 'withdraw';
  if (turn === 'running') return 'cancel';
  if (hasDraft) return 'clear';
  return isRepeated ? 'quit' : 'warn';
}
