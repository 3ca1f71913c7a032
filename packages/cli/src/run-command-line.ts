import { createProgram } from './create-program.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { readCommandLine } from './read-command-line.ts';
import { reportError } from './report-error.ts';
import type { Terminal } from './terminal.ts';

/** Runs one command in the current folder. Never throws: errors are printed. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  try {
    const program = createProgram(terminal, (ended) => {
      code = ended;
    });
    await program.parseAsync(readCommandLine(args, program), { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error, terminal);
  }
}

/**
 * Tells whether errors must be printed as JSON. Searches the arguments directly, because the command line may be
 * impossible to parse.
 */
export function asksForJson(args: readonly string[]): boolean {
  return args.includes('--json');
}
