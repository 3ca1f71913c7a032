import { homedir } from 'node:os';
import type { CommonOptions, StoreOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { renderTable } from '../render-table.ts';
import type { ListedSwarm } from '../swarm/list-swarms.ts';
import type { Terminal } from '../terminal.ts';

export function addLsCommand(program: GdnCommand): void {
  program
    .command('ls')
    .summary('list all swarms of this machine')
    .description(
      'Lists every swarm in the state root, running or not: its state, its agents, the folder of its bundle, and its ' +
        'workspace. Running swarms come first. The agents of a swarm that does not run are those with a conversation. ' +
        'With --store it lists the swarms of that database.',
    )
    .option('--running', 'only swarms that run')
    .commonOptions()
    .storeOption()
    .examples('gdn ls', 'gdn ls --running --json', 'gdn ls --store postgres://gdn@db.example/gdn')
    .runs(showSwarms);
}

async function showSwarms(
  options: CommonOptions & StoreOptions & { readonly running?: boolean },
  terminal: Terminal,
): Promise<Result> {
  const [{ readableStateRoot }, { listSwarms, listSwarmsInStore }] = await Promise.all([
    import('../state-root.ts'),
    import('../swarm/list-swarms.ts'),
  ]);
  const { cluster } = options;
  const stateRoot = readableStateRoot(options);
  const all = cluster === undefined ? await listSwarms(stateRoot) : await listSwarmsInStore(cluster);
  const swarms = options.running === true ? all.filter(({ running }) => running) : all;
  const where = cluster === undefined ? `state root: ${stateRoot}` : `store: ${cluster.shown}`;
  return { json: swarms, text: swarms.length === 0 ? tellNone(all, where) : renderSwarms(swarms, terminal) };
}

function tellNone(all: readonly ListedSwarm[], where: string): string {
  return all.length === 0
    ? `No swarm has run yet (${where}). Start one with \`gdn run\`.\n`
    : 'No swarm is running. `gdn ls` without --running lists the others.\n';
}

const heads = ['swarm', 'state', 'agents', 'workspace', 'folder'];

/** The folder is the last column, because it is long. */
function renderSwarms(swarms: readonly ListedSwarm[], terminal: Terminal): string {
  const rows = swarms.map(({ swarm, agents, workspaceId, ...each }) => [
    swarm ?? '?',
    showState(each),
    showAgents(agents),
    workspaceId,
    each.folder === null ? 'unknown' : `${fromHome(each.folder)}${each.folderExists ? '' : ' (missing)'}`,
  ]);
  return renderTable(heads, rows, terminal);
}

function showState({
  running,
  answers,
  pid,
  nodes,
}: Pick<ListedSwarm, 'running' | 'answers' | 'pid' | 'nodes'>): string {
  if (answers === false) return 'does not answer';
  if (nodes !== undefined) return nodes === 0 ? 'stopped' : `running (${nodes} ${nodes === 1 ? 'node' : 'nodes'})`;
  return running ? `running (${pid})` : 'stopped';
}

const MOST_AGENTS = 4;

function showAgents(agents: readonly string[]): string {
  if (agents.length === 0) return '-';
  const more = agents.length - MOST_AGENTS;
  return `${agents.slice(0, MOST_AGENTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function fromHome(folder: string): string {
  const home = homedir();
  return folder === home || folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}
