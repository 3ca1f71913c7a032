import type { TurnError } from '@goondan/types';
import { type Line, line, linesOf } from '../screen/line.ts';

/** What went wrong, with its code, and what to do about it. */
export function describeFailure({ code, message, suggestion }: TurnError): Line[] {
  const problem = code === undefined ? message : `${code}: ${message}`;
  return [...linesOf(problem, 'red'), ...(suggestion === undefined ? [] : [line(suggestion)])];
}
