/** One turn, whoever runs the swarm: asked, streamed, printed. */
import type { AskOptions, Delivery, TurnEnd } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import type { ExitCode } from '../exit-codes.ts';
import { printAnswer } from '../print-answer.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { exitAfter, reportOf } from './turn-report.ts';

/** A swarm in this process, or one that was reached. */
export interface Askable {
  ask(delivery: Delivery, options: AskOptions): Promise<TurnEnd>;
}

export interface Question {
  readonly delivery: Delivery;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly onAccepted?: () => void;
}

/** Aborting `signal` cancels the turn. **Errors** — those of `ask`: a turn that failed is printed, not thrown. */
export async function askOnce(swarm: Askable, question: Question, terminal: Terminal): Promise<ExitCode> {
  const { delivery, json, signal, onAccepted = () => undefined } = question;
  if (signal.aborted) throw new GoondanError('E_CANCELLED', 'Cancelled before anything was asked.');
  const answer = json ? undefined : printAnswer(terminal);
  const end = await swarm.ask(delivery, {
    signal,
    onAccepted,
    onNotice: (notice) => notice.type === 'delta' && answer?.stream(notice.delta),
  });
  const report = reportOf(end);
  answer?.end(report.response);
  if (json) printJson(report, terminal);
  return exitAfter(report, terminal);
}
