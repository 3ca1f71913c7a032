/**
 * Completes the commands in a suggestion, such as `gdn instance list`, so that a person can copy them: adds the options
 * that selected the swarm in the command that failed. A command after `GOONDAN_STORE= ` works on files, and gets no store.
 */
import type { Command } from 'commander';
import type { BundleOptions } from './common-options.ts';
import { quoteForShell } from './quote-for-shell.ts';
import { optionsAgain } from './swarm/options-again.ts';

/** `program` has all commands. `selected` has the options; `bundle` is also set for a command that takes a folder. */
export function completeCommands(text: string, program: Command, selected: BundleOptions): string {
  return text.replaceAll(/`(GOONDAN_STORE= )?gdn ([^`]+)`/g, (whole, onFiles: string | undefined, line: string) => {
    const write = (typed: readonly string[]) => `\`${onFiles ?? ''}gdn ${typed.join(' ')}\``;
    const words = line.split(' ');
    const { command, rest } = findCommand(program, words);
    const has = (flag: string) => command.options.some(({ long }) => long === flag);
    // `gdn init` writes a new bundle, in another folder.
    if (
      !has('--bundle') ||
      command.name() === 'init' ||
      rest.some((word) => ['--bundle', '--help', '--'].includes(word))
    )
      return whole;
    // If its arguments are missing, it is not a command to copy.
    const needed = command.registeredArguments.filter(({ required }) => required).length;
    if (rest.filter((word) => !word.startsWith('-')).length < needed) return whole;
    const { bundle, ...others } = selected;
    const { swarm, store, stateRoot } = others;
    const kept = {
      ...(swarm === undefined || rest.includes('--swarm') ? {} : { swarm }),
      ...(store === undefined || onFiles !== undefined || rest.includes('--store') || !has('--store') ? {} : { store }),
      ...(stateRoot === undefined || rest.includes('--state-root') ? {} : { stateRoot }),
    };
    const isFolderTaken = command.registeredArguments[0]?.name() === 'folder';
    if (!isFolderTaken) return write([...words, ...optionsAgain(bundle === undefined ? kept : { ...kept, bundle })]);
    if (rest[0] !== undefined && !rest[0].startsWith('-')) return whole;
    const names = words.slice(0, words.length - rest.length);
    return write([...names, ...(bundle === undefined ? [] : [quoteForShell(bundle)]), ...rest, ...optionsAgain(kept)]);
  });
}

function findCommand(from: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  const next = from.commands.find((each) => each.name() === words[0]);
  return next === undefined ? { command: from, rest: words } : findCommand(next, words.slice(1));
}
