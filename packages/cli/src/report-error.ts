/**
 * Reports the errors of `gdn`: one line with the problem and its code, one line with a suggestion, and an exit code.
 * With `--json` the error is one line of JSON, the last on standard error. A stack trace is printed only on request.
 */
import { CommanderError } from 'commander';
import type { BundleProblem } from '@goondan/runtime/bundle';
import { endingOf, errorCatalogue, GoondanError, isCancellation, type TurnError } from '@goondan/types';
import { errorLine } from './error-line.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { wrapMessage } from './fit-width.ts';
import { harmlessLines } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

/** Prints the error of a command and returns the exit code. */
export function reportError(error: unknown, terminal: Terminal): ExitCode {
  // Commander throws for every early exit: for help, for the version, and for an empty command line.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (GoondanError.is(error)) return reportFailure(error, terminal);
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  if (terminal.showsStack && stack !== undefined) terminal.printError(`${stack}\n`);
  const { suggestion } = errorCatalogue.E_UNEXPECTED;
  return reportFailure({ code: 'E_UNEXPECTED', message, suggestion }, terminal);
}

interface Failure extends TurnError {
  /** The errors of a bundle, when these are the reason. */
  readonly problems?: readonly BundleProblem[];
}

/** Prints an error that ended a command and returns the exit code. */
export function reportFailure(error: Failure, terminal: Terminal): ExitCode {
  printFailure(error, terminal);
  return exitCodeOf(error.code);
}

/**
 * Prints why a turn gave no answer, and returns the exit code. An agent's error never counts as a setup error, even if
 * it has the same code.
 */
export function reportTurnError(error: TurnError, terminal: Terminal): ExitCode {
  printFailure(error, terminal);
  return endingOf({ finishReason: 'error', error }) === 'cancelled' ? exitCodes.interrupted : exitCodes.failure;
}

function printFailure(error: Failure, terminal: Terminal): void {
  const { code, message, extension, place, problems } = error;
  const suggestion = error.suggestion === undefined ? undefined : terminal.suggest(error.suggestion);
  const { red, dim } = terminal.errorColors;
  if (terminal.errorsAsJson) {
    terminal.printError(`${JSON.stringify({ error: { code, message, suggestion, extension, place, problems } })}\n`);
    return;
  }
  const fit = (text: string) => wrapMessage(harmlessLines(text), terminal.errorColumns);
  const problem = fit(errorLine(error));
  const advice = suggestion === undefined ? '' : `${fit(suggestion)}\n`;
  terminal.printError(`${(isCancellation(error) ? dim : red)(problem)}\n${advice}`);
}
