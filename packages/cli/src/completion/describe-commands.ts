/** Describes the commands of `gdn` for a completion script, from the same definitions as their help. */
import type { Argument, Command, Option } from 'commander';

/** The values to suggest: folders, files, some words, or nothing, because any text is allowed. */
export type Suggestion = 'folders' | 'files' | 'nothing' | readonly string[];

export interface CompletedOption {
  readonly short?: string | undefined;
  readonly long: string;
  readonly description: string;
  /** Absent when the option takes no value. */
  readonly value?: Suggestion;
}

export interface CompletedCommand {
  /** The words of the command, without `gdn`; empty for `gdn` itself. */
  readonly path: readonly string[];
  readonly subcommands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly CompletedOption[];
  /** The values of its first argument. */
  readonly argument: Suggestion;
}

/** Describes a command and the commands below it. */
export function describeCommands(command: Command, path: readonly string[] = []): CompletedCommand[] {
  const [first] = command.registeredArguments;
  const help = command.createHelp();
  return [
    {
      path,
      subcommands: help.visibleCommands(command).map((each) => ({ name: each.name(), summary: summaryOf(each) })),
      options: help.visibleOptions(command).flatMap(describeOption),
      argument: first === undefined ? 'nothing' : suggestFor(first, first.name()),
    },
    ...command.commands.flatMap((each) => describeCommands(each, [...path, each.name()])),
  ];
}

function summaryOf(command: Command): string {
  return command.summary() || command.description();
}

function describeOption(option: Option): CompletedOption[] {
  const { short, long, description, flags, required, optional } = option;
  if (long === undefined) return [];
  const takesValue = required || optional;
  const value = takesValue ? { value: suggestFor(option, /[<[](\w+)/.exec(flags)?.[1] ?? '') } : {};
  return [{ short, long, description, ...value }];
}

/** Chooses by the declared choices, or by the name of the value, as in `--bundle <folder>`. */
function suggestFor({ argChoices }: Pick<Argument | Option, 'argChoices'>, name: string): Suggestion {
  if (argChoices !== undefined) return argChoices;
  if (name === 'folder' || name.endsWith('-folder')) return 'folders';
  return name === 'file' ? 'files' : 'nothing';
}
