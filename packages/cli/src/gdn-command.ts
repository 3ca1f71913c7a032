/** A command of `gdn`: its help marks required options, and its errors suggest what to type. */
import { Command, type ErrorOptions, Help, type Option } from 'commander';
import { GoondanError } from '@goondan/types';
import type { BundleUse, RecoverOptions } from './changes/recover-bundle.ts';
import type { ClusterAccess } from './cluster/cluster-access.ts';
import { bundleFolder, type BundleOptions } from './common-options.ts';
import { completeCommands } from './complete-commands.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { wrapWords } from './fit-width.ts';
import { printJson } from './print-json.ts';
import { reportError } from './report-error.ts';
import { quoteForShell } from './quote-for-shell.ts';
import type { Terminal } from './terminal.ts';

/** The result of a command: a value for `--json`, and a text for people. */
export interface Result {
  readonly json: unknown;
  readonly text: string;
  readonly code?: ExitCode;
}

/** The maximum width of help, because longer lines are hard to read even on a wide terminal. */
const WIDEST = 100;
/** The width of help when the output is not a terminal. */
const NARROW = 80;
/** With fewer columns beside the terms, commander would not wrap the descriptions. */
const LEAST_DESCRIPTION = 44;

export class GdnCommand extends Command {
  readonly #terminal: Terminal;
  readonly #finish: (code: ExitCode) => void;
  #bundleUse: BundleUse = 'no';
  #insteadOfStore: string | undefined;
  /** Advice by the flag of an option that the command does not have. */
  readonly #refused = new Map<string, string>();

  constructor(name: string | undefined, terminal: Terminal, finish: (code: ExitCode) => void) {
    super(name);
    this.#terminal = terminal;
    this.#finish = finish;
  }

  /** Creates sub-commands of this class. */
  override createCommand(name?: string): GdnCommand {
    return new GdnCommand(name, this.#terminal, this.#finish);
  }

  /** Adds the options of a command that works on a swarm of a bundle, on files or in a store. */
  swarmOptions(): this {
    return this.bundleOptions().storeOption();
  }

  /** Adds the option `--store`. The options of the command then have `cluster`. */
  storeOption(): this {
    return this.option(
      '--store <address>',
      'the database of a swarm on many machines: postgres://user@host/database, or @file with such an address ' +
        '(default: $GOONDAN_STORE, else files in the state root)',
    );
  }

  /** Adds the options of a command that works on a swarm of a bundle, on files only. */
  bundleOptions(): this {
    return this.folderOption().option('--swarm <name>', 'the swarm, when the bundle has several').commonOptions();
  }

  /**
   * Says that the command works on files only. It is refused when `GOONDAN_STORE` names a store, so that nobody takes
   * the files of this machine for the swarm. `instead` says how to do the same with a store.
   */
  filesOnly(instead: string): this {
    this.#insteadOfStore = instead;
    return this;
  }

  folderOption(): this {
    return this.option(
      '--bundle <folder>',
      this.#takesFolder() ? 'the same as the argument' : 'the folder of the bundle (default: the current one)',
    );
  }

  commonOptions(): this {
    return this.option(
      '--state-root <folder>',
      'the folder for conversations (default: $GOONDAN_STATE_ROOT, else ~/.goondan)',
    ).option('--json', 'print JSON instead of text');
  }

  /** Adds the option `--no-flock`, for a command that may lock the workspace. */
  flockOption(): this {
    return this.option(
      '--no-flock',
      'do not lock the workspace: for file systems without flock, when nothing else can start this swarm',
    );
  }

  /**
   * Says that the command reads the files of the bundle: to show them, or to run or change them. It then waits while
   * another process replaces these files for a changeset.
   */
  readsBundle(use: Exclude<BundleUse, 'no'>): this {
    this.#bundleUse = use;
    return this;
  }

  /** Says what to type instead of an option that people expect here. */
  refusesOption(flag: `--${string}`, instead: string): this {
    this.#refused.set(flag, instead);
    return this;
  }

  /** Ends the help with command lines to copy. */
  examples(...lines: readonly string[]): this {
    const title = lines.length === 1 ? 'Example' : 'Examples';
    return this.addHelpText('after', `\n${title}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
  }

  /**
   * Sets the work of the command. `work` gets the options, the terminal and the arguments. It either returns the result
   * to print, or prints the result itself and returns the exit code. If it returns nothing, the exit code is `ok`.
   */
  runs(work: (options: never, terminal: Terminal, ...args: never[]) => Promise<Result | ExitCode | void>): this {
    return this.action(async (...given: unknown[]) => {
      // Commander passes the arguments, then the options and the command. The casts are safe if the types of `work`
      // match the declared arguments and options.
      const [args, [options]] = [given.slice(0, -2) as never[], given.slice(-2) as [never]];
      const terminal = this.#suggestingTerminal(options, args);
      let cluster: ClusterAccess | undefined;
      try {
        cluster = await this.#openStore(options);
        await this.#recover(options, args, terminal);
        const done = await work(cluster === undefined ? options : withCluster(options, cluster), terminal, ...args);
        this.#finish(typeof done === 'object' ? this.#print(done) : (done ?? exitCodes.ok));
      } catch (error) {
        this.#finish(reportError(error, terminal));
      } finally {
        await cluster?.close();
      }
    });
  }

  /** Loads nothing for a swarm on files. **Errors** — `E_STORE_ADDRESS`; `E_USAGE` for a command on files only. */
  async #openStore({ store }: BundleOptions): Promise<ClusterAccess | undefined> {
    if (this.#insteadOfStore !== undefined && process.env['GOONDAN_STORE']) {
      const message = `\`${this.#path()}\` works on files, and GOONDAN_STORE names a database.`;
      const suggestion = `${this.#insteadOfStore} To work on the files of this machine, unset GOONDAN_STORE.`;
      throw new GoondanError('E_USAGE', message, { suggestion });
    }
    if (!this.options.some(({ long }) => long === '--store')) return undefined;
    if (store === undefined && !process.env['GOONDAN_STORE']) return undefined;
    const { readClusterAccess } = await import('./cluster/cluster-access.ts');
    return readClusterAccess(store, process.env, this.#path());
  }

  /** Finishes an interrupted change of the bundle, so that no command sees half of it. */
  async #recover(options: BundleOptions & RecoverOptions, [argument]: readonly unknown[], terminal: Terminal) {
    if (!this.options.some(({ long }) => long === '--bundle')) return;
    const folder = bundleFolder(this.#takesFolder() && typeof argument === 'string' ? argument : undefined, options);
    const { recoverBundle } = await import('./changes/recover-bundle.ts');
    await recoverBundle(folder, this.#bundleUse, options, terminal);
  }

  /** Returns the terminal of this command, whose suggestions select the same swarm as the command does. */
  #suggestingTerminal(options: BundleOptions, [argument]: readonly unknown[]): Terminal {
    const folder = this.#takesFolder() && typeof argument === 'string' ? { bundle: argument } : {};
    const suggest = (text: string) =>
      this.#terminal.suggest(completeCommands(text, this.#program(), { ...options, ...folder }));
    return { ...this.#terminal, suggest };
  }

  #program(): Command {
    let program: Command = this;
    while (program.parent !== null) program = program.parent;
    return program;
  }

  #print({ json, text, code = exitCodes.ok }: Result): ExitCode {
    if (this.getOptionValue('json') === true) printJson(json, this.#terminal);
    else this.#terminal.print(text);
    return code;
  }

  override createHelp(): Help {
    const help = new Help();
    const describe = help.optionDescription.bind(help);
    const formatItem = help.formatItem.bind(help);
    return Object.assign(help, {
      ...this.configureHelp(),
      boxWrap: (text: string, width: number) => wrapWords(text, width),
      // In a narrow terminal, a description is below its term.
      formatItem(term: string, termWidth: number, description: string, helper: Help) {
        const { helpWidth: width = NARROW } = help;
        if (width - termWidth >= LEAST_DESCRIPTION) return formatItem(term, termWidth, description, helper);
        return wrapWords(`  ${term}\n      ${description}`, width);
      },
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
        return [problem, this.#hintAboutInput() ?? `Type it as \`${this.#usage()}\`. `];
      case 'commander.missingArgument':
        return [problem, `Type it as \`${this.#usage()}\`. `];
      case 'commander.excessArguments':
        return [problem, this.#hintAboutArguments()];
      case 'commander.unknownOption':
        if (this.parent === null) return [problem, 'Options come after the command, as in `gdn status --json`. '];
        return (
          this.#explainRefused(problem) ?? [
            problem,
            problem.includes("'--store'") && this.#insteadOfStore ? `${this.#insteadOfStore} ` : '',
          ]
        );
      default:
        return [problem, ''];
    }
  }

  #explainRefused(problem: string): readonly [problem: string, hint: string] | undefined {
    const [quoted, flag = ''] = /^unknown option '(--[\w-]+)[^']*'/.exec(problem) ?? [];
    const instead = this.#refused.get(flag);
    return quoted === undefined || instead === undefined ? undefined : [quoted, `${instead} `];
  }

  /** Suggests the option that people often mean when they pass an argument. */
  #hintAboutArguments(): string {
    const has = (flag: string) => this.options.some(({ long }) => long === flag);
    if (!this.#takesFolder() && has('--bundle')) return `Name the bundle with \`--bundle ${this.args.at(-1) ?? ''}\`. `;
    return has('--input') ? 'Put a text of several words into quotes. ' : '';
  }

  /** Suggests the whole command to people who typed the input without its option. */
  #hintAboutInput(): string | undefined {
    const isNeeded = this.options.some(({ long, mandatory }) => long === '--input' && mandatory);
    if (!isNeeded || this.registeredArguments.length > 0 || this.args.length === 0) return undefined;
    const text = this.args.join(' ');
    const quoted = /["$`\\!]/.test(text) ? quoteForShell(text) : `"${text}"`;
    return `Type it as \`${this.#path()} --input ${quoted}\`. `;
  }

  #takesFolder(): boolean {
    return this.registeredArguments.some((argument) => argument.name() === 'folder');
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
    return code === 'commander.unknownCommand'
      ? `${help} lists the commands.`
      : `${help} shows the arguments and options.`;
  }

  #path(): string {
    const names = [this.name()];
    for (let { parent } = this as Command; parent !== null; { parent } = parent) names.unshift(parent.name());
    return names.join(' ');
  }
}

function withCluster(options: object, cluster: ClusterAccess): never {
  // Safe: `BundleOptions`, which every command with `--store` takes, has the field `cluster`.
  return { ...options, cluster } as never;
}

/** Returns the width of the terminal, up to `WIDEST`. */
export function helpWidth(columns = NARROW): number {
  return Math.min(columns, WIDEST);
}
