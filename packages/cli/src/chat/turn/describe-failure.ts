import type { TurnError } from '@goondan/types';
import { errorLine } from '../../error-line.ts';
import { type Line, line, linesOf } from '../screen/line.ts';

/** Describes a failure: message, code, place and suggestion. */
export function describeFailure(error: TurnError): Line[] {
  const { suggestion } = error;
  return [...linesOf(errorLine(error), 'red'), ...(suggestion === undefined ? [] : [line(suggestion)])];
}
