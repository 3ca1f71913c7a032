import { isAbsolute, join } from 'node:path';
import type { Bundle, BundleProblem } from '@goondan/runtime/bundle';
import type { Terminal } from '../terminal.ts';

/** Prints each problem as `file:line:column code message`, followed by its suggestion. */
export function printProblems(
  { errors, warnings }: Bundle,
  folder: string,
  { print, colors }: Pick<Terminal, 'print' | 'colors'>,
): void {
  for (const problem of errors) print(describe(problem, folder, colors.red(problem.code)));
  for (const problem of warnings) print(describe(problem, folder, colors.yellow(`warning ${problem.code}`)));
}

function describe({ file, line, column, resource, message, suggestion }: BundleProblem, folder: string, code: string) {
  // The path is relative to the current folder, so that an editor can open it.
  const path = isAbsolute(file) ? file : join(folder, file);
  const about = resource === undefined ? '' : `${resource}: `;
  return `${path}:${line}:${column} ${code} ${about}${message}\n${suggestion === undefined ? '' : `    ${suggestion}\n`}`;
}

/** Formats counts, such as `3 errors and a warning`. */
export function countProblems({ errors, warnings }: Pick<Bundle, 'errors' | 'warnings'>): string {
  const counts = [count(errors.length, 'an error', 'errors'), count(warnings.length, 'a warning', 'warnings')];
  return counts.filter((each) => each !== undefined).join(' and ') || 'no errors';
}

function count(number: number, one: string, many: string): string | undefined {
  if (number === 0) return undefined;
  return number === 1 ? one : `${number} ${many}`;
}
