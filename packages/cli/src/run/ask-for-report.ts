import type { Acceptance, AskOptions, Delivery, Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
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
  if (options.signal?.aborted === true) throw new GoondanError('E_CANCELLED', 'Cancelled before the input was sent.');
  let accepted: Acceptance | undefined;
  const onAccepted = (acceptance: Acceptance) => {
    accepted = acceptance;
    options.onAccepted?.(acceptance);
  };
  const safe = Promise.withResolvers<void>();
  holdQuit?.(safe.promise);
  try {
    return reportOf(
      await swarm.ask({ client: 'gdn', ...delivery }, { ...options, onAccepted, onCancelled: safe.resolve }),
    );
  } catch (error) {
    if (accepted === undefined || !GoondanError.is(error)) throw error;
    if (asksAgain && goneCodes.includes(error.code)) throw error;
    return reportWithoutEnd(accepted, error);
  } finally {
    safe.resolve();
  }
}
