import type { TurnError, TurnResult } from './turn.ts';

/** The ending of a turn, for people. A cancelled turn did not fail: there is nothing to fix. */
export type TurnEnding = 'answered' | 'max_steps' | 'cancelled' | 'failed';

/** The result of a turn, or its record in a trace, where the error is a text that begins with its code. */
export interface EndedTurn {
  readonly finishReason: TurnResult['finishReason'];
  readonly error?: Pick<TurnError, 'code'> | string | undefined;
}

/** Decides how a turn ended; everything that shows a turn uses it. */
export function endingOf({ finishReason, error }: EndedTurn): TurnEnding {
  if (finishReason === 'max_steps') return 'max_steps';
  if (finishReason === 'text_response') return 'answered';
  return isCancellation(error) ? 'cancelled' : 'failed';
}

/** Tells whether an error, thrown or recorded, means that the turn was cancelled. */
export function isCancellation(error: unknown): boolean {
  if (typeof error === 'string') return /^E_CANCELLED\b/.test(error);
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'E_CANCELLED';
}
