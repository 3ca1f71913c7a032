/** Takes the answer that a model gave with `output__finish`, or the problems of such an answer. */
import type { ToolCallResult } from '@goondan/types';
import { FINISH_TOOL } from '../../config/tool-name.ts';
import { boundProblems } from '../output/read-answer.ts';
import type { RunningStep, RunningTurn } from '../turn-state/running-turn.ts';
import { appendAnswer } from './step-messages.ts';

/**
 * Takes the answer from the results of the step's tool calls, as their layers returned them. Of several answers, the first
 * accepted one counts. The refusal of a layer is not a wrong answer.
 */
export function takeFinish(turn: RunningTurn, step: RunningStep, results: readonly ToolCallResult[]): void {
  if (turn.demand === undefined) return;
  const finishes = results.filter(({ toolName }) => toolName === FINISH_TOOL);
  const given = finishes.find(({ status }) => status === 'ok');
  if (given !== undefined) {
    appendAnswer(turn, step, given.output ?? null);
    step.isFinished = true;
    return;
  }
  const problems = finishes.flatMap(({ error }) =>
    isWrongAnswer(error?.code) ? (error?.message.replace(/\.$/, '') ?? []) : [],
  );
  if (problems.length > 0) step.finishProblems = boundProblems(problems);
}

/** Returns true if the arguments did not fit, or the reply ended inside them. */
function isWrongAnswer(code: string | undefined): boolean {
  return code === 'E_TOOL_ARGUMENTS' || code === 'E_REPLY_TRUNCATED';
}
