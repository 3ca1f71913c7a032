import type { Acceptance, AskOptions, Delivery, Swarm, TurnEnd } from '@goondan/runtime';
import { GoondanError, isCancellation } from '@goondan/types';
import { interrupted } from '../interrupted.ts';
import type { HoldQuit } from '../with-interrupt.ts';
import { reportOf, reportWithoutEnd, saysFate, type TurnReport } from './turn-report.ts';

export interface ReportOptions extends AskOptions {
  /** Selects errors that are thrown after the input was accepted, so that the caller can ask the next swarm. */
  readonly asksAgain?: ((error: GoondanError) => boolean) | undefined;
  /** If true, an input is withdrawn whose agent does not start, so that no later run answers it. */
  readonly withdraws?: boolean | undefined;
  /** From `withInterrupt`: delays quitting until the turn's cancellation is known. */
  readonly holdQuit?: HoldQuit | undefined;
}

/**
 * Runs one turn and reports its outcome. Aborting `signal` cancels the turn.
 *
 * **Errors** — `E_CANCELLED`, and those of `ask`, when the input was not accepted, so that it can be sent again; those
 * that `asksAgain` selects.
 */
export async function askForReport(
  swarm: Pick<Swarm, 'ask' | 'cancel'>,
  delivery: Delivery,
  { asksAgain = () => false, withdraws = false, holdQuit, ...options }: ReportOptions,
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
    throw new GoondanError('E_CANCELLED', 'The input was cancelled before its turn began.');
  } catch (error) {
    if (accepted === undefined || !GoondanError.is(error)) throw error;
    if (asksAgain(error)) throw error;
    // The turn of a duplicate may have begun in another swarm.
    const isOwn = withdraws && !hasBegun && !accepted.duplicate && !saysFate(error);
    const isWithdrawn = isOwn && (await withdraw(swarm, accepted));
    return reportWithoutEnd(accepted, error, isWithdrawn);
  } finally {
    safe.resolve();
  }
}

/** Returns false if the input was not withdrawn, for example because the swarm has stopped. */
function withdraw(swarm: Pick<Swarm, 'cancel'>, { agent, instanceKey, eventId }: Acceptance): Promise<boolean> {
  const reason = 'withdrawn by its sender, because the agent did not start';
  return swarm.cancel({ agent, instanceKey, eventId, reason }).catch(() => false);
}

/** Shortens the error of a turn that the person at this terminal cancelled: nobody else did, and no layer is at fault. */
function withOwnCancel(end: TurnEnd, signal: AbortSignal | undefined): TurnEnd {
  const { error } = end.result;
  if (signal?.aborted !== true || error === undefined || !isCancellation(error)) return end;
  const { suggestion } = error;
  const own = { code: 'E_CANCELLED', message: 'The turn was cancelled.', ...(suggestion && { suggestion }) };
  return { ...end, result: { ...end.result, error: own } };
}
