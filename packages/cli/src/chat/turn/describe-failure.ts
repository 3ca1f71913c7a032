import type { TurnError } from '@goondan/types';
import { errorLine } from '../../error-line.ts';
import { type Line, line, linesOf } from '../screen/line.ts';

/** The failure in words: message, code and place, and what to do about it. */
export function describeFailure(error: TurnError): Line[] {
  const { suggestion } = error;
  return [...linesOf(errorLine(error), 'red'), ...(suggestion === undefined ? [] : [line(suggestion)])];
}
