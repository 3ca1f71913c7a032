/**
 * How `gdn` fails: one line that says what is wrong, with its code, one line that says what to do, and an exit code. With
 * `--json` it is one line of JSON, the last on standard error. There is never a stack, unless it is asked for.
 */
import { CommanderError } from 'commander';
import { errorCatalogue, GoondanError, type TurnError } from '@goondan/types';
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

/** Prints why a turn failed and says how to exit: an agent's error is no error of the set-up, even with the same code. */
export function reportTurnError(error: TurnError, terminal: Terminal): ExitCode {
  printFailure(error, terminal);
  return error.code === 'E_CANCELLED' ? exitCodes.interrupted : exitCodes.failure;
}

function printFailure({ code, message, suggestion }: TurnError, terminal: Terminal): void {
  if (terminal.errorsAsJson) {
    terminal.printError(`${JSON.stringify({ error: { code, message, suggestion } })}\n`);
    return;
  }
  const problem = harmlessLines(code === undefined ? message : `${code}: ${message}`);
  const advice = suggestion === undefined ? '' : `${harmlessLines(suggestion)}\n`;
  terminal.printError(`${terminal.errorColors.red(problem)}\n${advice}`);
}
