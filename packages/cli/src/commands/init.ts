import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { addCommonOptions, bundleFolder, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Provider } from '../init/choose-provider.ts';
import type { Committed } from '../init/commit-bundle.ts';
import { type Template, templateNames } from '../init/templates.ts';
import { printJson } from '../print-json.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import type { Terminal } from '../terminal.ts';

interface InitOptions extends BundleOptions {
  readonly template: Template;
  /** False if `--no-git` was given. */
  readonly git: boolean;
}

const description =
  'Writes a bundle into a new or empty folder: goondan.yaml, a model, prompts and code to start from. The model ' +
  'is from the provider whose key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY). ' +
  'Without a key it is a scripted model, which needs no network. If git is installed, it makes the first commit. ' +
  'Nothing is overwritten, and nothing is run.';

const examples = `
Templates:
  default      one agent with a tool
  multi-agent  two agents that talk to each other
  extension    one agent with an extension
  minimal      one agent, and nothing else
  demo         the swarm of gdn demo: two agents, tools, extensions, a call that needs approval

Example:
  $ gdn init my-swarm && gdn run my-swarm --trust --input "hello"`;

export function addInitCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('init')
    .argument('[folder]', 'the folder to write (default: the current folder)')
    .summary('write a new bundle to start from')
    .description(description)
    .addOption(new Option('--template <name>', 'the template').choices(templateNames).default('default'))
    .option('--no-git', 'make no repository and no commit')
    .option('--bundle <folder>', 'the same as the argument');
  addCommonOptions(command)
    .addHelpText('after', examples)
    .action(async (argument: string | undefined, options: InitOptions) => {
      await init(bundleFolder(argument, options), options, terminal);
      finish(exitCodes.ok);
    });
}

async function init(named: string, { template, git, json }: InitOptions, terminal: Terminal): Promise<void> {
  const [{ chooseProvider }, { writeTemplate }, { commitBundle }] = await Promise.all([
    import('../init/choose-provider.ts'),
    import('../init/write-template.ts'),
    import('../init/commit-bundle.ts'),
  ]);
  const folder = resolve(named);
  const provider = chooseProvider(process.env);
  const files = await writeTemplate({ folder, template, provider });
  const committed: Committed = git ? await commitBundle(folder, files) : { git: 'none' };
  if (committed.git === 'failed') {
    terminal.printError(`The bundle is written, but git made no commit: ${committed.reason}\n`);
  }
  if (json === true) return printJson({ folder, template, provider, files, git: committed.git }, terminal);
  terminal.print(describe(named, folder, files, provider, terminal));
}

function describe(named: string, folder: string, files: readonly string[], provider: Provider, { colors }: Terminal) {
  const answers =
    provider === 'scripted'
      ? 'A script answers, because no key is set; model.yaml says how to change that.'
      : `${provider} answers, because its key is set; model.yaml says which model.`;
  const where = named === '.' ? '' : ` ${quoteForShell(named)}`;
  return [
    `A new bundle is in ${folder}:`,
    ...files.map((file) => `  ${file}`),
    answers,
    'Try it:',
    colors.bold(`  gdn run${where} --trust --input "hello"`),
    '',
  ].join('\n');
}
