import { GoondanError } from '@goondan/types';
import type { TurnRun } from './turn-run.ts';

/** Throws the turn's own reason when it was cancelled or is out of time. */
export function refuseWhenOver(run: TurnRun): void {
  if (!run.signal.aborted) return;
  const reason: unknown = run.signal.reason;
  throw reason instanceof Error
    ? reason
    : new GoondanError('E_CANCELLED', 'The turn was cancelled.', { cause: reason });
}
