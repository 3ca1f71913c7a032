/**
 * Rewrites the command line: `gdn help instance show` becomes `gdn instance show --help`. Help for an unknown command
 * is an error instead of the general help.
 */
import type { Command } from 'commander';

export function readCommandLine(args: readonly string[], program: Command): readonly string[] {
  const [first, ...rest] = args;
  const isHelpCommand = first === 'help';
  if (!isHelpCommand && !args.some((arg) => arg === '--help' || arg === '-h')) return args;
  const names = (isHelpCommand ? rest : args).filter((arg) => !arg.startsWith('-'));
  // Leaves out `--help`, so that commander checks the names and reports the unknown one.
  if (!knows(program, names)) return names;
  return isHelpCommand ? [...rest, '--help'] : args;
}

/** Tells whether all names are commands, each a sub-command of the one before. */
function knows(command: Command, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || command.commands.length === 0) return true;
  const found = command.commands.find((each) => each.name() === name);
  return found !== undefined && knows(found, rest);
}
