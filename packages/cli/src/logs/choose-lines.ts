import type { LogLine } from '@goondan/runtime';
import { InvalidArgumentError } from 'commander';
import { textOfLine } from './render-log-line.ts';

/** The levels of the log, the least important first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export interface LineChoice {
  /** The least important level to show. */
  readonly level: (typeof logLevels)[number];
  readonly since?: Date | undefined;
  readonly grep?: RegExp | undefined;
  readonly trace?: string | undefined;
}

/** Returns the function that tells whether a line is shown. A level that a later version added is always shown. */
export function chooseLines({ level, since, grep, trace }: LineChoice): (line: LogLine) => boolean {
  const hidden: readonly string[] = logLevels.slice(0, logLevels.indexOf(level));
  return (line) =>
    !hidden.includes(line.level) &&
    (trace === undefined || line.traceId === trace) &&
    (since === undefined || new Date(line.time) >= since) &&
    (grep === undefined || grep.test(textOfLine(line)));
}

/** Reads the value of `--grep`. A pattern without capital letters ignores case. */
export function readPattern(text: string): RegExp {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  try {
    // The capital letters of escapes, such as `\S` and `\p{L}`, are not part of the text.
    const written = text.replaceAll(/\\(?:p\{[^}]*\}|.)/gis, '');
    return new RegExp(text, /\p{Lu}/u.test(written) ? 'm' : 'im');
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : String(error));
  }
}
