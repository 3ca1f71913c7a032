/**
 * Runs one turn in a swarm of this or of another process: sends the input, streams the answer, and prints the outcome.
 */
import type { Acceptance, AskOptions, Delivery, Swarm } from '@goondan/runtime';
import { systemClock } from '@goondan/runtime/internal';
import type { ExitCode } from '../exit-codes.ts';
import { printAnswer } from '../print-answer.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { askForReport, type ReportOptions } from './ask-for-report.ts';
import { showTurnProgress } from './show-turn-progress.ts';
import { answerText, exitAfter, tellPiledUp } from './turn-report.ts';

export interface Question extends Pick<ReportOptions, 'asksAgain' | 'withdraws' | 'holdQuit'> {
  readonly delivery: Delivery;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly onAccepted: (acceptance: Acceptance) => void;
  /** True while a person is asked a question at this terminal. */
  readonly isAsking: () => boolean;
}

/**
 * Sends the input of `question`, and prints the outcome of its turn. Aborting `signal` cancels the turn.
 *
 * **Errors** — those of `askForReport`. Then no outcome is printed.
 */
export async function askOnce(swarm: Swarm, question: Question, terminal: Terminal): Promise<ExitCode> {
  const { delivery, json, isAsking, ...others } = question;
  const answer = json ? undefined : printAnswer(terminal);
  const progress = await showTurnProgress(swarm, terminal, {
    isPaused: isAsking,
    ...(answer && { beforeLine: () => answer.breakLine() }),
    signal: question.signal,
    now: () => systemClock.elapsed(),
  });
  const onAccepted = (acceptance: Acceptance) => {
    progress.accepted(acceptance);
    question.onAccepted(acceptance);
  };
  const onNotice: AskOptions['onNotice'] = (notice) => {
    progress.hear(notice);
    if (notice.type === 'delta') answer?.stream(notice.delta);
  };
  const asked = askForReport(swarm, delivery, { ...others, onAccepted, onNotice });
  const report = await asked.finally(() => progress.end());
  answer?.end(answerText(report));
  if (json) printJson(report, terminal);
  const code = exitAfter(report, terminal);
  tellPiledUp(report, terminal);
  return code;
}
