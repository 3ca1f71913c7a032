import type { TurnError, TurnResult } from './turn.ts';

/** How a turn ended, for people. A turn that somebody cancelled did not fail: nothing has to be mended. */
export type TurnEnding = 'answered' | 'max_steps' | 'cancelled' | 'failed';

/** The result of a turn, or what a trace has of it: there the error is a text that begins with its code. */
export interface EndedTurn {
  readonly finishReason: TurnResult['finishReason'];
  readonly error?: Pick<TurnError, 'code'> | string | undefined;
}

/** The one place that decides it: whoever shows a turn asks here. */
export function endingOf({ finishReason, error }: EndedTurn): TurnEnding {
  if (finishReason === 'max_steps') return 'max_steps';
  if (finishReason === 'text_response') return 'answered';
  return isCancellation(error) ? 'cancelled' : 'failed';
}

/** Tells whether an error, thrown or recorded, means that somebody cancelled the turn. */
export function isCancellation(error: unknown): boolean {
  if (typeof error === 'string') return /^E_CANCELLED\b/.test(error);
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'E_CANCELLED';
}
