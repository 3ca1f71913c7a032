import type { Command } from 'commander';
import { createProgram } from './create-program.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
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
 * Rewrites the command line: `gdn help instance show` becomes `gdn instance show --help`. Help for an unknown command
 * is an error instead of the general help.
 */
function readCommandLine(args: readonly string[], program: Command): readonly string[] {
  const [first, ...rest] = args;
  const isHelpCommand = first === 'help';
  if (!isHelpCommand && !args.some((arg) => arg === '--help' || arg === '-h')) return args;
  const names = (isHelpCommand ? rest : args).filter((arg) => !arg.startsWith('-'));
  // Leaves out `--help`, so that commander checks the names and reports the unknown one.
  if (!knows(program, names)) return names;
  if (isHelpCommand) refuseSurplus(program, names);
  return isHelpCommand ? [...rest, '--help'] : args;
}

/** Tells whether all names are commands, each a sub-command of the one before. */
function knows(command: Command, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || command.commands.length === 0) return true;
  const found = command.commands.find((each) => each.name() === name);
  return found !== undefined && knows(found, rest);
}

/** Throws `E_USAGE` when names follow the name of a command that has no sub-commands. */
function refuseSurplus(command: Command, [name, ...rest]: readonly string[]): void {
  if (name === undefined) return;
  const found = command.commands.find((each) => each.name() === name);
  if (found === undefined) command.error(`command '${command.name()}' has no sub-command '${name}'`);
  refuseSurplus(found, rest);
}

/**
 * Tells whether errors must be printed as JSON. Searches the arguments directly, because the command line may be
 * impossible to parse.
 */
export function asksForJson(args: readonly string[]): boolean {
  return args.includes('--json');
}
