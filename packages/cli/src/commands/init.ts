import { resolve } from 'node:path';
import { Option } from 'commander';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Provider } from '../init/choose-provider.ts';
import { firstQuestions, type Template, templateNames } from '../init/templates.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import type { Terminal } from '../terminal.ts';
import { typedGdn } from '../typed-gdn.ts';

const description =
  'Writes a bundle into a new or empty folder: goondan.yaml, a model, prompts, code to start from, and settings for npm and editors. The swarm ' +
  'has the name of the folder, in lower case and with `-` for other characters. The model is from the provider whose key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY). ' +
  'Without a key it is a scripted model, which needs no network. If git is installed, it makes the first commit. ' +
  'A package.json and a tsconfig.json that exist already are kept. Nothing is overwritten, and nothing is run.';

const templates = `
Templates:
  default      one agent with a tool
  multi-agent  two agents that talk to each other
  extension    one agent with an extension
  minimal      one agent, and nothing else
  demo         the swarm of gdn demo: two agents, tools, extensions, a call that needs approval`;

export function addInitCommand(program: GdnCommand): void {
  program
    .command('init')
    .argument('[folder]', 'the folder to write (default: the current folder)')
    .summary('write a new bundle to start from')
    .description(description)
    .addOption(new Option('--template <name>', 'the template').choices(templateNames).default('default'))
    .option('--no-git', 'make no repository and no commit')
    .folderOption()
    .commonOptions()
    .addHelpText('after', templates)
    .examples(`gdn init my-swarm && gdn run my-swarm --trust --input "${firstQuestions.default}"`)
    .runs(init);
}

/** `git` is false if `--no-git` was given. */
async function init(
  { template, git, ...options }: BundleOptions & { readonly template: Template; readonly git: boolean },
  terminal: Terminal,
  argument?: string,
): Promise<Result> {
  const [{ chooseProvider }, { isInstalledAt }, { writeTemplate }, { commitBundle }] = await Promise.all([
    import('../init/choose-provider.ts'),
    import('../init/find-schema.ts'),
    import('../init/write-template.ts'),
    import('../init/commit-bundle.ts'),
  ]);
  const named = bundleFolder(argument, options);
  const folder = resolve(named);
  const provider = chooseProvider(process.env);
  const written = await writeTemplate(folder, template, provider);
  const { files, kept } = written;
  const committed = git ? await commitBundle(folder, files) : { git: 'none' as const };
  if (committed.git === 'failed') {
    const { reason, suggestion } = committed;
    terminal.printError(`The bundle is written, but git made no commit: ${reason}\n${suggestion}\n`);
  }
  const json = { folder, template, provider, files, kept, git: committed.git };
  const question = `--input "${firstQuestions[template]}"`;
  const where = named === '.' ? '' : ` ${quoteForShell(named)}`;
  const command = `${typedGdn()} run${where} --trust ${question}`;
  const note = isInstalledAt(folder)
    ? []
    : ['For an editor or tsc, install Goondan in this folder or in a folder above.'];
  return { json, text: describe(folder, written, provider, note, terminal.colors.bold(`  ${command}`)) };
}

function describe(
  folder: string,
  { files, kept }: { readonly files: readonly string[]; readonly kept: readonly string[] },
  provider: Provider,
  note: readonly string[],
  command: string,
): string {
  const answers =
    provider === 'scripted'
      ? 'A script answers, because no key is set; model.yaml says how to change that.'
      : `${provider} answers, because its key is set; goondan.yaml says which model.`;
  return [
    `A new bundle is in ${folder}:`,
    ...files.map((file) => `  ${file}`),
    ...kept.map((file) => `${file} was already there and is unchanged.${keptAdvice[file] ?? ''}`),
    answers,
    ...note,
    'Try it:',
    command,
    '',
  ].join('\n');
}

const keptAdvice: Readonly<Record<string, string>> = {
  'tsconfig.json': ' For the code of a bundle, it needs "types": ["bun"] and "allowImportingTsExtensions": true.',
};
