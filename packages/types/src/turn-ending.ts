import type { TurnError, TurnResult } from './turn.ts';

/** How a turn ended, as shown to people. A cancelled turn does not count as failed, because there is nothing to fix. */
export type TurnEnding = 'answered' | 'max_steps' | 'cancelled' | 'failed';

/**
 * A turn that has ended: its result, or its record in a trace. In a trace, the error is a text that begins with the
 * error code.
 */
export interface EndedTurn {
  readonly finishReason: TurnResult['finishReason'];
  readonly error?: Pick<TurnError, 'code'> | string | undefined;
}

/** Returns how a turn ended. Everything that displays a turn uses this function. */
export function endingOf({ finishReason, error }: EndedTurn): TurnEnding {
  if (finishReason === 'max_steps') return 'max_steps';
  if (finishReason === 'text_response') return 'answered';
  return isCancellation(error) ? 'cancelled' : 'failed';
}

/** Tells whether an error, thrown or recorded, means that its turn was cancelled. */
export function isCancellation(error: unknown): boolean {
  if (typeof error === 'string') return /^E_CANCELLED\b/.test(error);
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'E_CANCELLED';
}
