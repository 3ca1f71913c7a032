import type { Acceptance, AskOptions, Delivery, Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { goneCodes } from '../swarm/between-swarms.ts';
import type { HoldQuit } from '../with-interrupt.ts';
import { reportOf, reportWithoutEnd, type TurnReport } from './turn-report.ts';

export interface ReportOptions extends AskOptions {
  /** When the swarm goes away before the answer is there, whoever asks wants to hear it, to ask the next one. */
  readonly asksAgain?: boolean;
  /** Of `withInterrupt`: whoever quits does so when it is known that the turn is cancelled. */
  readonly holdQuit?: HoldQuit | undefined;
}

/**
 * One turn, and what became of it. Aborting `signal` cancels the turn.
 *
 * **Errors** — `E_CANCELLED`, and those of `ask`, when it was not accepted: it can be asked again. With `asksAgain` also
 * those of a swarm that is gone.
 */
export async function askForReport(
  swarm: Pick<Swarm, 'ask'>,
  delivery: Delivery,
  { asksAgain = false, holdQuit, ...options }: ReportOptions,
): Promise<TurnReport> {
  if (options.signal?.aborted === true) throw new GoondanError('E_CANCELLED', 'Cancelled before anything was asked.');
  let accepted: Acceptance | undefined;
  const onAccepted = (acceptance: Acceptance) => {
    accepted = acceptance;
    options.onAccepted?.(acceptance);
  };
  const safe = Promise.withResolvers<void>();
  holdQuit?.(safe.promise);
  try {
    return reportOf(await swarm.ask(delivery, { ...options, onAccepted, onCancelled: safe.resolve }));
  } catch (error) {
    if (accepted === undefined || !(error instanceof GoondanError)) throw error;
    if (asksAgain && goneCodes.includes(error.code)) throw error;
    return reportWithoutEnd(accepted, error);
  } finally {
    safe.resolve();
  }
}
