/** Checks the answer of a control socket, or throws its error. */
import { GoondanError } from '@goondan/types';
import { fromFrameError } from '../ipc/check/frame-error.ts';
import { type Check, ShapeError } from '../ipc/check/shape.ts';
import { errorAnswer, foreignErrorAnswer } from './check-answer.ts';

/** Parses the body as JSON. Throws `E_CONTROL_ANSWER`. */
export async function readJson(response: Response): Promise<unknown> {
  const answer = await response.text();
  try {
    return JSON.parse(answer);
  } catch (error) {
    throw notUnderstood(`${response.status} without JSON`, error);
  }
}

/** Checks the answer. Throws `E_CONTROL_ANSWER`. */
export function checkAnswer<Answer>(check: Check<Answer>, value: unknown): Answer {
  try {
    return check(value);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw notUnderstood(`with an unexpected shape: ${error.message}`, error);
  }
}

/** Returns the swarm's own error. If its code is not in this version's catalogue, the message names the code. */
export function readRefusal(body: unknown): GoondanError {
  try {
    return fromFrameError(errorAnswer(body).error);
  } catch {
    const { code, message, suggestion } = checkAnswer(foreignErrorAnswer, body).error;
    return new GoondanError('E_CONTROL_ANSWER', `${code}: ${message}`, suggestion === undefined ? {} : { suggestion });
  }
}

export function notUnderstood(what: string, cause?: unknown): GoondanError {
  return new GoondanError('E_CONTROL_ANSWER', `The control socket answered ${what}.`, { cause });
}
