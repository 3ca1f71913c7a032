/** One turn, whoever runs the swarm: asked, streamed, printed. */
import type { Acceptance, AskOptions, Delivery, TurnEnd } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import type { ExitCode } from '../exit-codes.ts';
import { printAnswer } from '../print-answer.ts';
import { printJson } from '../print-json.ts';
import { goneCodes } from '../swarm/between-swarms.ts';
import type { Terminal } from '../terminal.ts';
import { exitAfter, reportOf, reportWithoutEnd, type TurnReport } from './turn-report.ts';

/** A swarm in this process, or one that was reached. */
export interface Askable {
  ask(delivery: Delivery, options: AskOptions): Promise<TurnEnd>;
}

export interface Question {
  readonly delivery: Delivery;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly onAccepted: (acceptance: Acceptance) => void;
  /** When the swarm goes away before the answer is there, whoever asks wants to hear it, to ask the next one. */
  readonly asksAgain?: boolean;
}

/**
 * Aborting `signal` cancels the turn. Whatever becomes of an input that was accepted is printed, unless it can be asked
 * for again.
 *
 * **Errors** — `E_CANCELLED`, and those of `ask`, when it was not accepted: nothing is printed then, and it can be asked
 * again.
 */
export async function askOnce(swarm: Askable, question: Question, terminal: Terminal): Promise<ExitCode> {
  const { delivery, json, signal, onAccepted, asksAgain = false } = question;
  if (signal.aborted) throw new GoondanError('E_CANCELLED', 'Cancelled before anything was asked.');
  const answer = json ? undefined : printAnswer(terminal);
  const onNotice: AskOptions['onNotice'] = (notice) => notice.type === 'delta' && answer?.stream(notice.delta);
  const report = await ask(swarm, delivery, { signal, onNotice, onAccepted }, asksAgain);
  answer?.end(report.response);
  if (json) printJson(report, terminal);
  return exitAfter(report, terminal);
}

async function ask(swarm: Askable, delivery: Delivery, options: AskOptions, asksAgain: boolean): Promise<TurnReport> {
  let accepted: Acceptance | undefined;
  const onAccepted = (acceptance: Acceptance) => {
    accepted = acceptance;
    options.onAccepted?.(acceptance);
  };
  try {
    return reportOf(await swarm.ask(delivery, { ...options, onAccepted }));
  } catch (error) {
    if (accepted === undefined || !(error instanceof GoondanError)) throw error;
    if (asksAgain && goneCodes.includes(error.code)) throw error;
    return reportWithoutEnd(accepted, error);
  }
}
