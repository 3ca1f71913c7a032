import type { Command } from 'commander';
import { addBundleOptions, bundleFolder, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

interface ExplainCommandOptions extends BundleOptions {
  readonly agent?: string;
  readonly load?: boolean;
  readonly trust?: boolean;
}

const description =
  'Shows the onion of an agent: the layers around its turns, steps, model calls and tool calls, the outermost ' +
  'first. The layers are those of its last start; before the first start only the declared parts are known. Each ' +
  'tool is listed with its origin; tools of MCP servers are those that a turn or `gdn mcp test` saw last. The ' +
  'bundle is not run, except with --load: it loads the agent in its own process and ends it, without a turn or a ' +
  'conversation.';

const examples = `
Examples:
  $ gdn explain my-swarm --agent assistant
  $ gdn explain my-swarm --agent assistant --load`;

export function addExplainCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('explain')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('see the layers around an agent, in order')
    .description(description)
    .option('--agent <name>', 'the agent (default: the entry agent)')
    .option('--load', 'load the agent now, which runs the modules of its tools and extensions')
    .option('--trust', 'with --load: run its code without asking, for this run only');
  addBundleOptions(command)
    .addHelpText('after', examples)
    .action(async (argument: string | undefined, options: ExplainCommandOptions) => {
      const { load = false, trust = false, ...common } = options;
      if (trust && !load) command.error("option '--trust' needs option '--load'");
      const request = { ...common, load, trust, folder: bundleFolder(argument, options), workdir: process.cwd() };
      await withInterrupt((signal) => explain(request, terminal, signal));
      finish(exitCodes.ok);
    });
}

async function explain(
  request: Parameters<typeof import('../explain/explain-agent.ts').explainAgent>[0],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const [{ explainAgent }, { describeOnion }] = await Promise.all([
    import('../explain/explain-agent.ts'),
    import('../explain/describe-onion.ts'),
  ]);
  const { note, ...explanation } = await explainAgent(request, terminal, signal);
  if (request.json === true) printJson(explanation, terminal);
  else terminal.print(describeOnion(explanation));
  if (note !== undefined) terminal.printError(`${note}\n`);
}
