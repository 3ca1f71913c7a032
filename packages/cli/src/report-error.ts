/**
 * How `gdn` fails: one line that says what is wrong, with its code, one line that says what to do, and an exit code. With
 * `--json` it is one line of JSON, the last on standard error. There is never a stack, unless it is asked for.
 */
import { CommanderError } from 'commander';
import { endingOf, errorCatalogue, GoondanError, isCancellation, type TurnError } from '@goondan/types';
import { errorLine } from './error-line.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { harmlessLines } from './harmless-text.ts';
import type { Terminal } from './terminal.ts';

/** Prints what a command threw and says how to exit. */
export function reportError(error: unknown, terminal: Terminal): ExitCode {
  // Commander throws for every way to end early: help and version that were asked for, and help for who asked nothing.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof GoondanError) return reportFailure(error, terminal);
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  if (terminal.showsStack && stack !== undefined) terminal.printError(`${stack}\n`);
  const { suggestion } = errorCatalogue.E_UNEXPECTED;
  return reportFailure({ code: 'E_UNEXPECTED', message, suggestion }, terminal);
}

/** Prints an error that ended a command and says how to exit. */
export function reportFailure(error: TurnError, terminal: Terminal): ExitCode {
  printFailure(error, terminal);
  return exitCodeOf(error.code);
}

/** Prints why a turn gave no answer and says how to exit: an agent's error is not one of the set-up, even with the same code. */
export function reportTurnError(error: TurnError, terminal: Terminal): ExitCode {
  printFailure(error, terminal);
  return endingOf({ finishReason: 'error', error }) === 'cancelled' ? exitCodes.interrupted : exitCodes.failure;
}

function printFailure(error: TurnError, terminal: Terminal): void {
  const { code, message, suggestion, extension, place } = error;
  const { red, dim } = terminal.errorColors;
  if (terminal.errorsAsJson) {
    terminal.printError(`${JSON.stringify({ error: { code, message, suggestion, extension, place } })}\n`);
    return;
  }
  const problem = harmlessLines(errorLine(error));
  const advice = suggestion === undefined ? '' : `${harmlessLines(suggestion)}\n`;
  terminal.printError(`${(isCancellation(error) ? dim : red)(problem)}\n${advice}`);
}
