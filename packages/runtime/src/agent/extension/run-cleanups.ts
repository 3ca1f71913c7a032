import type { Cleanup } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import { toTurnError } from '../pipeline/turn-error.ts';

/**
 * Called for a cleanup that failed or did not finish in time. `thrown` is the error of a failed cleanup. `extension` is
 * absent for a listener that was added after the extensions had registered.
 */
export type ReportCleanup = (message: string, extension: string | undefined, thrown?: unknown) => void;

/** Runs the cleanups one after the other, within `graceMs` in total. Never throws; problems go to `report`. */
export async function runCleanups(
  cleanups: readonly { readonly name?: string; readonly cleanup: Cleanup }[],
  graceMs: number,
  clock: Clock,
  report: ReportCleanup,
): Promise<void> {
  const outOfTime = Promise.withResolvers<'out of time'>();
  const callOff = clock.after(graceMs, () => outOfTime.resolve('out of time'));
  for (const { name, cleanup } of cleanups) {
    const subject = name === undefined ? 'a beforeExit listener' : 'cleanup';
    const failed = (error: unknown) => report(`${subject} failed: ${toTurnError(error).message}`, name, error);
    // An async function, so that a synchronous throw becomes a rejection.
    const outcome = await Promise.race([(async () => cleanup())().catch(failed), outOfTime.promise]);
    if (outcome === 'out of time') report(`${subject} was not finished within ${Math.round(graceMs)} ms`, name);
  }
  callOff();
}
