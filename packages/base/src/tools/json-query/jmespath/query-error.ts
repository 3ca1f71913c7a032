import { GoondanError } from '@goondan/types';

/** The error of a query that breaks a rule of the language. `at` is the position in the query, counted from 0. */
export function queryError(problem: string, at?: number): GoondanError {
  return new GoondanError('E_QUERY_INVALID', `${problem}${at === undefined ? '' : `, at character ${at + 1}`}.`);
}
