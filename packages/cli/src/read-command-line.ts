/**
 * What was typed, as the commands read it. `gdn help instance show` is `gdn instance show --help`; and who asks for help
 * about a command that is not there is told so, instead of being shown all the others.
 */
import type { Command } from 'commander';

export function readCommandLine(args: readonly string[], program: Command): readonly string[] {
  const [first, ...rest] = args;
  const isHelpCommand = first === 'help';
  if (!isHelpCommand && !args.some((arg) => arg === '--help' || arg === '-h')) return args;
  const names = (isHelpCommand ? rest : args).filter((arg) => !arg.startsWith('-'));
  // Without `--help`: then the names are looked at, and the one that is not there is named.
  if (!knows(program, names)) return names;
  return isHelpCommand ? [...rest, '--help'] : args;
}

/** Every name that must be one of a command is one. */
function knows(command: Command, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || command.commands.length === 0) return true;
  const found = command.commands.find((each) => each.name() === name);
  return found !== undefined && knows(found, rest);
}
