/** How `gdn` fails: one line that says what is wrong, with its code, one line that says what to do, and an exit code. */
import { CommanderError } from 'commander';
import { errorCatalogue, GoondanError, type TurnError } from '@goondan/types';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Prints what a command threw and says how to exit. */
export function reportError(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) return reportUsage(error, terminal);
  if (error instanceof GoondanError) return reportFailure(error, terminal);
  // Not foreseen, so a mistake of ours: whoever reports it needs the stack.
  terminal.printError(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return exitCodes.failure;
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
  const problem = code === undefined ? message : `${code}: ${message}`;
  terminal.printError(`${terminal.errorColors.red(problem)}\n${suggestion === undefined ? '' : `${suggestion}\n`}`);
}

/** Commander throws for every way to end early; help and version that were asked for are no errors. */
function reportUsage({ exitCode, code, message }: CommanderError, terminal: Terminal): ExitCode {
  if (exitCode === 0) return exitCodes.ok;
  // Nothing was asked for: the help is printed already and says it all.
  if (code === 'commander.help') return exitCodes.usage;
  // `error: unknown command 'dmeo'` and, on a line of its own, `(Did you mean demo?)`.
  const problem = message.replace(/^error: /, '').replaceAll('\n', ' ');
  return reportFailure({ code: 'E_USAGE', message: problem, suggestion: errorCatalogue.E_USAGE.suggestion }, terminal);
}
