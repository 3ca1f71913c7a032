import type { Acceptance, AskOptions, Delivery, Swarm, TurnEnd } from '@goondan/runtime';
import { GoondanError, isCancellation } from '@goondan/types';
import { interrupted } from '../interrupted.ts';
import { goneCodes } from '../swarm/between-swarms.ts';
import type { HoldQuit } from '../with-interrupt.ts';
import { reportOf, reportWithoutEnd, type TurnReport } from './turn-report.ts';

/**
 * Runs one turn and reports its outcome. Aborting `signal` cancels the turn. If `asksAgain` is true, throws when the
 * swarm stops before the answer, so that the caller can ask the next swarm. `holdQuit`, from `withInterrupt`, delays
 * quitting until the turn's cancellation is known.
 *
 * **Errors** — `E_CANCELLED`, and those of `ask`, when the input was not accepted, so that it can be sent again. With
 * `asksAgain` also the errors of a swarm that has stopped.
 */
export async function askForReport(
  swarm: Pick<Swarm, 'ask'>,
  delivery: Delivery,
  {
    asksAgain = false,
    holdQuit,
    ...options
  }: AskOptions & { readonly asksAgain?: boolean; readonly holdQuit?: HoldQuit | undefined },
): Promise<TurnReport> {
  if (options.signal?.aborted === true) throw interrupted('Cancelled before the input was sent.');
  let accepted: Acceptance | undefined;
  const onAccepted = (acceptance: Acceptance) => {
    accepted = acceptance;
    options.onAccepted?.(acceptance);
  };
  let hasBegun = false;
  const onNotice: AskOptions['onNotice'] = (notice) => {
    hasBegun = true;
    options.onNotice?.(notice);
  };
  const safe = Promise.withResolvers<void>();
  holdQuit?.(safe.promise);
  try {
    const asked = { ...options, onAccepted, onNotice, onCancelled: safe.resolve };
    const end = swarm.ask({ client: 'gdn', ...delivery }, asked);
    const ended = await Promise.race([end, safe.promise.then(() => (hasBegun ? end : undefined))]);
    if (ended !== undefined) return reportOf(withOwnCancel(ended, options.signal));
    // The turn never begins, but its end is known only after the turns before it, and one of them may wait for a person.
    end.catch(() => undefined);
    throw new GoondanError('E_CANCELLED', 'The input was cancelled before its turn began.');
  } catch (error) {
    if (accepted === undefined || !GoondanError.is(error)) throw error;
    if (asksAgain && goneCodes.includes(error.code)) throw error;
    return reportWithoutEnd(accepted, error);
  } finally {
    safe.resolve();
  }
}

/** Shortens the error of a turn that the person at this terminal cancelled: nobody else did, and no layer is at fault. */
function withOwnCancel(end: TurnEnd, signal: AbortSignal | undefined): TurnEnd {
  const { error } = end.result;
  if (signal?.aborted !== true || error === undefined || !isCancellation(error)) return end;
  const { suggestion } = error;
  const own = { code: 'E_CANCELLED', message: 'The turn was cancelled.', ...(suggestion && { suggestion }) };
  return { ...end, result: { ...end.result, error: own } };
}
