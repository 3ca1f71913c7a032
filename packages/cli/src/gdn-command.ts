/** A command of `gdn`: its help marks required options, and its errors suggest what to type. */
import { Command, type ErrorOptions, Help, type Option } from 'commander';
import { GoondanError } from '@goondan/types';

/** Longer lines are hard to read even on a wide terminal. */
const WIDEST = 100;
/** The width of help when the output is not a terminal. */
const NARROW = 80;

export class GdnCommand extends Command {
  /** Creates sub-commands of this class. */
  override createCommand(name?: string): GdnCommand {
    return new GdnCommand(name);
  }

  override createHelp(): Help {
    const help = new Help();
    const describe = help.optionDescription.bind(help);
    return Object.assign(help, {
      ...this.configureHelp(),
      optionDescription: (option: Option) => `${describe(option)}${option.mandatory ? ' (needed)' : ''}`,
    });
  }

  /** Handles every mistake in a command line, whether commander or a command found it. */
  override error(message: string, { code = '' }: ErrorOptions = {}): never {
    // Commander writes `error: unknown command 'dmeo'` and, on a separate line, `(Did you mean demo?)`.
    const problem = message.replace(/^error: /, '').replaceAll('\n', ' ');
    const [reworded, hint] = this.#explain(problem, code);
    throw new GoondanError('E_USAGE', reworded, { suggestion: `${hint}${this.#whereToLook(code)}` });
  }

  #explain(problem: string, code: string): readonly [problem: string, hint: string] {
    switch (code) {
      case 'commander.optionMissingArgument':
        return [problem.replace(/argument missing$/, 'needs a value'), ''];
      case 'commander.missingMandatoryOptionValue':
      case 'commander.missingArgument':
        return [problem, `Type it as \`${this.#usage()}\`. `];
      case 'commander.excessArguments':
        return [problem, this.#hintAboutArguments()];
      case 'commander.unknownOption':
        return [problem, this.parent === null ? 'Options come after the command, as in `gdn status --json`. ' : ''];
      default:
        return [problem, ''];
    }
  }

  /** Suggests the option that people often mean when they pass an argument. */
  #hintAboutArguments(): string {
    const takesFolder = this.registeredArguments.some((argument) => argument.name() === 'folder');
    const has = (flag: string) => this.options.some(({ long }) => long === flag);
    if (!takesFolder && has('--bundle')) return `Name the bundle with \`--bundle ${this.args.at(-1) ?? ''}\`. `;
    return has('--input') ? 'Put a text of several words into quotes. ' : '';
  }

  #usage(): string {
    const needed = this.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
    const taken = this.registeredArguments.map((each) => {
      const name = `${each.name()}${each.variadic ? '...' : ''}`;
      return each.required ? `<${name}>` : `[${name}]`;
    });
    return [this.#path(), ...taken, ...needed].join(' ');
  }

  #whereToLook(code: string): string {
    const help = `\`${this.#path()} --help\``;
    return code === 'commander.unknownCommand' ? `${help} lists what there is.` : `${help} shows what it takes.`;
  }

  #path(): string {
    const names = [this.name()];
    for (let { parent } = this as Command; parent !== null; { parent } = parent) names.unshift(parent.name());
    return names.join(' ');
  }
}

/** Returns the width of the terminal, up to `WIDEST`. */
export function helpWidth(columns = NARROW): number {
  return Math.min(columns, WIDEST);
}
