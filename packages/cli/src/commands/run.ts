import { existsSync } from 'node:fs';
import { checkInput } from '../check-input.ts';
import { collectPaths } from '../collect-paths.ts';
import {
  defaultNodeName,
  findNodeProblem,
  type NodeOptions,
  readLease,
  readListen,
  readNodeName,
} from '../cluster/node-options.ts';
import { addressIn, bundleFolder, type InstanceOptions } from '../common-options.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';
import { printJson } from '../print-json.ts';
import { readVersion } from '../read-version.ts';
import type { PreparedRun } from '../run/prepare-run.ts';
import type { ServedSwarm } from '../run/serve.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

interface RunOptions extends InstanceOptions, NodeOptions {
  readonly input?: string;
  readonly schema?: string;
  readonly file?: readonly string[];
  readonly trust?: boolean;
  readonly detach?: boolean;
  readonly watch?: boolean;
  readonly connections?: boolean;
  readonly flock: boolean;
  readonly prices?: string;
}

const description =
  'With --input, sends one input to an agent, prints the answer and exits. The conversation is kept, and the next run ' +
  'continues it. With --input, connections are not started and need no secrets, unless you add --connections. Without ' +
  '--input at a terminal, opens a chat: Ctrl-C cancels the turn and Ctrl-D leaves. Without a terminal, or with ' +
  '--json, runs the swarm in the foreground until Ctrl-C, SIGTERM or `gdn stop`. A chat and --input use the swarm if it ' +
  'is already running; in the foreground that is an error, except that a swarm started by --input makes room after ' +
  'its turn. The first run of a folder asks whether you trust its code, ' +
  'or needs --trust. With --store the swarm keeps its conversations in a database, and this process is one of its ' +
  'nodes: start one on each machine. The state root then has only the local files of the node. If the folder has no ' +
  'bundle, the node runs the deployed one.';

export function addRunCommand(program: GdnCommand): void {
  const command = program
    .command('run')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('run a bundle: chat, ask once, or serve')
    .description(description)
    .option('--input <text>', 'the input; - reads standard input', checkInput)
    .option('--schema <file>', 'with --input: demand an answer that fits this JSON Schema (JSON or YAML)')
    .option('--file <path>', 'with --input: an image or a file to send along; can be repeated', collectPaths)
    .option('--agent <name>', 'the agent (default: the entry agent)')
    .option('--instance <key>', 'the conversation of that agent (default: "default")')
    .option('--prices <file>', 'in the chat: show the cost of each turn, at the prices of this file (YAML or JSON)')
    .option('--connections', 'with --input: start the connections too, as without --input')
    .option('--trust', 'run its code without asking, for this run only')
    .option('--detach', 'run the swarm in the background')
    .option('--watch', 'watch the files of the bundle and reload on changes, as `gdn reload` does')
    .option('--node <name>', 'with --store: the name of this node (default: the name of the machine)', readNodeName)
    .option('--listen <host:port>', 'with --store: accept other machines here (default: this machine only)', readListen)
    .option('--tls-cert <file>', 'with --listen: the certificate (default: a new one, pinned through the store)')
    .option('--tls-key <file>', 'with --listen: the private key of that certificate')
    .option('--lease <seconds>', 'with --store: the time after which a dead node is replaced (default: 10)', readLease)
    .flockOption()
    .swarmOptions()
    .examples(
      'gdn run my-swarm',
      'gdn run my-swarm --input "Good morning"',
      'gdn run my-swarm --input "What is in this picture?" --file cat.png',
      'git diff | gdn run my-swarm --input - --instance review',
      'gdn run my-swarm --input "Which city is the largest?" --schema city.schema.json',
      'gdn run my-swarm --input "What came in?" --connections',
      'gdn run my-swarm --trust --detach',
      'gdn run my-swarm --store postgres://gdn@db.example/gdn --listen 0.0.0.0:7444',
    )
    .readsBundle('use')
    .runs((options: RunOptions, terminal, argument?: string) => {
      checkTogether(command, options, terminal);
      return run(bundleFolder(argument, options), options, terminal);
    });
}

function checkTogether(command: GdnCommand, options: RunOptions, terminal: Terminal): void {
  const { input, schema, file, detach, watch, agent, instance, prices } = options;
  if (schema !== undefined && input === undefined) command.error("option '--schema' needs option '--input'");
  if (file !== undefined && input === undefined) command.error("option '--file' needs option '--input'");
  if (watch === true && input !== undefined) command.error("option '--watch' cannot be used with option '--input'");
  if (detach === true && input !== undefined) command.error("option '--detach' cannot be used with option '--input'");
  const problem = findNodeProblem(options, options.cluster !== undefined);
  if (problem !== undefined) command.error(problem);
  if (prices !== undefined && !isChat(options, terminal))
    command.error("option '--prices' needs a terminal to chat at");
  if (input !== undefined || isChat(options, terminal)) return;
  const alone = agent === undefined ? (instance === undefined ? undefined : '--instance') : '--agent';
  if (alone !== undefined) command.error(`option '${alone}' needs option '--input', or a terminal to chat at`);
}

/** Tells whether to start a chat: a person types and watches, and requested neither JSON nor a detached swarm. */
function isChat({ input, detach, json }: RunOptions, { isWatched, isTyped }: Terminal): boolean {
  return input === undefined && detach !== true && json !== true && isWatched && isTyped;
}

async function run(folder: string, options: RunOptions, terminal: Terminal): Promise<ExitCode> {
  const [{ prepareRun }, { warnImported }, { readDemanded }] = await Promise.all([
    import('../run/prepare-run.ts'),
    import('../cluster/imported-note.ts'),
    import('../read-demanded.ts'),
  ]);
  const { input, schema, file = [], trust = false, connections = input === undefined, ...common } = options;
  const demanded = await readDemanded(schema);
  const where = (await findDeployed(folder, options)) ?? { folder };
  const prepared = await prepareRun({ ...common, ...where, trust, connections, workdir: process.cwd() }, terminal);
  warnImported(prepared.place, terminal);
  if (options.detach === true) {
    const { detach } = await import('../run/detach.ts');
    return detach(prepared, terminal, (served, isNew) =>
      tell(served, isNew ? 'Runs in the background' : 'Already runs', prepared, terminal),
    );
  }
  if (input === undefined && isChat(options, terminal)) {
    const { runChat } = await import('../chat/run-chat.ts');
    return runChat(prepared, addressIn(options), terminal, options.prices);
  }
  if (input === undefined) {
    const { serve } = await import('../run/serve.ts');
    return serve(prepared, terminal, (served) =>
      tell(served, 'Ready for input; Ctrl-C stops the swarm', prepared, terminal),
    );
  }
  const [{ runOnce }, { readInput }, { readFiles }, { callerTrace }] = await Promise.all([
    import('../run/run-once.ts'),
    import('../read-input.ts'),
    import('../read-files.ts'),
    import('../caller-trace.ts'),
  ]);
  const delivery = {
    input: await readInput(input, terminal),
    ...(file.length > 0 && { content: await readFiles(file) }),
    ...addressIn(options),
    ...demanded,
    ...callerTrace(process.env),
  };
  return withInterrupt((signal, ...hold) => runOnce(prepared, delivery, terminal, signal, ...hold));
}

/** Fetches the deployed bundle for a node that was started in a folder without a bundle. */
async function findDeployed(folder: string, options: RunOptions) {
  const { cluster, node } = options;
  if (cluster === undefined || folder !== '.' || existsSync('goondan.yaml')) return undefined;
  const { fetchDeployed } = await import('../cluster/fetch-deployed.ts');
  return fetchDeployed(cluster, options, node ?? defaultNodeName());
}

function tell(served: ServedSwarm, what: string, { json, cluster, node }: PreparedRun, terminal: Terminal): void {
  if (json === true) return printJson(served, terminal);
  const name = cluster === undefined ? '' : `, node "${node ?? defaultNodeName()}"`;
  terminal.printError(
    `${what}: swarm "${served.swarm}"${name}, process ${served.pid}. Its logs: ${served.workspace}/logs\n`,
  );
  if (served.version !== undefined) {
    const how = terminal.suggest('type `gdn stop`, then this command again');
    const versions = `Version ${harmlessText(served.version)} of Goondan runs this swarm; this command is version ${readVersion()}`;
    terminal.printError(`note: ${versions}. To replace it, ${how}.\n`);
  }
  for (const { connection, problem = 'it has not reported a reason' } of served.waiting ?? []) {
    terminal.printError(`Connection/${connection} does not listen yet: ${problem}\n`);
  }
}
