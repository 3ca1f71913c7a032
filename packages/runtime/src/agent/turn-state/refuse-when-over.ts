import { GoondanError } from '@goondan/types';
import type { RunningTurn } from './running-turn.ts';

/** Throws the turn's own reason when it was cancelled or is out of time. */
export function refuseWhenOver(turn: RunningTurn): void {
  if (!turn.signal.aborted) return;
  const reason: unknown = turn.signal.reason;
  throw reason instanceof Error
    ? reason
    : new GoondanError('E_CANCELLED', 'The turn was cancelled.', { cause: reason });
}
