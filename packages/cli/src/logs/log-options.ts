/** The values of the options of `gdn logs`. This file is loaded by every command, so it imports no runtime. */
import { InvalidArgumentError } from 'commander';

/** The levels of the log, the least important first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

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
