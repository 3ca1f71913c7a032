import { bundleFolder } from '../common-options.ts';
import type { ExplainRequest } from '../explain/explain-agent.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

const description =
  'Shows the onion of an agent: the layers around its turns, steps, model calls and tool calls, the outermost ' +
  'first. The layers are those of its last start; before the first start only the declared parts are known. Each ' +
  'tool is listed with its origin; tools of MCP servers are those that a turn or `gdn mcp test` saw last. The ' +
  'bundle is not run, except with --load, which starts the agent in its own process, without a turn or a ' +
  'conversation, and then ends that process.';

export function addExplainCommand(program: GdnCommand): void {
  const command = program
    .command('explain')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('see the layers around an agent, in order')
    .description(description)
    .option('--agent <name>', 'the agent (default: the entry agent)')
    .option('--load', 'load the agent now, which runs the modules of its tools and extensions')
    .option('--trust', 'with --load: run its code without asking, for this run only')
    .swarmOptions()
    .examples('gdn explain my-swarm --agent my-swarm', 'gdn explain my-swarm --agent my-swarm --load')
    .readsBundle('look')
    .runs((options: Partial<ExplainRequest>, terminal, argument?: string) => {
      const { load = false, trust = false } = options;
      if (trust && !load) command.error("option '--trust' needs option '--load'");
      const request = { ...options, load, trust, folder: bundleFolder(argument, options), workdir: process.cwd() };
      return withInterrupt((signal) => explain(request, terminal, signal));
    });
}

async function explain(request: ExplainRequest, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const [{ explainAgent }, { describeOnion }] = await Promise.all([
    import('../explain/explain-agent.ts'),
    import('../explain/describe-onion.ts'),
  ]);
  const { note, ...explanation } = await explainAgent(request, terminal, signal);
  if (request.json === true) printJson(explanation, terminal);
  else terminal.print(describeOnion(explanation, terminal.suggest));
  if (note !== undefined) terminal.printError(`${note}\n`);
}
