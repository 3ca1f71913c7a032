/**
 * Runs one turn in a swarm of this or of another process: sends the input, streams the answer, and prints the outcome.
 */
import type { Acceptance, AskOptions, Delivery, Swarm } from '@goondan/runtime';
import type { ExitCode } from '../exit-codes.ts';
import { printAnswer } from '../print-answer.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { askForReport, type ReportOptions } from './ask-for-report.ts';
import { showLimitWaits } from './show-limit-waits.ts';
import { answerText, exitAfter, tellPiledUp } from './turn-report.ts';

export interface Question extends Pick<ReportOptions, 'asksAgain' | 'withdraws' | 'holdQuit'> {
  readonly delivery: Delivery;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly onAccepted: (acceptance: Acceptance) => void;
}

/**
 * Sends the input of `question`, and prints the outcome of its turn. Aborting `signal` cancels the turn.
 *
 * **Errors** — those of `askForReport`. Then no outcome is printed.
 */
export async function askOnce(swarm: Swarm, question: Question, terminal: Terminal): Promise<ExitCode> {
  const { delivery, json, ...others } = question;
  const answer = json ? undefined : printAnswer(terminal);
  const waits = showLimitWaits(terminal, () => answer?.breakLine());
  const onNotice: AskOptions['onNotice'] = (notice) => {
    waits.hear(notice);
    if (notice.type === 'delta') answer?.stream(notice.delta);
  };
  const report = await askForReport(swarm, delivery, { ...others, onNotice }).finally(() => waits.end());
  answer?.end(answerText(report));
  if (json) printJson(report, terminal);
  const code = exitAfter(report, terminal);
  tellPiledUp(report, terminal);
  return code;
}
