import { homedir } from 'node:os';
import type { CommonOptions } from '../common-options.ts';
import { padToWidth } from '../fit-width.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { widthOf } from '../graphemes.ts';
import { harmlessText } from '../harmless-text.ts';
import type { ListedSwarm } from '../swarm/list-swarms.ts';
import type { Terminal } from '../terminal.ts';

export function addLsCommand(program: GdnCommand): void {
  program
    .command('ls')
    .summary('list all swarms of this machine')
    .description(
      'Lists every swarm in the state root, running or not: its state, its agents, the folder of its bundle, and its ' +
        'workspace. Running swarms come first. The agents of a swarm that does not run are those with a conversation.',
    )
    .option('--running', 'only swarms that run')
    .commonOptions()
    .examples('gdn ls', 'gdn ls --running --json')
    .runs(showSwarms);
}

async function showSwarms(
  options: CommonOptions & { readonly running?: boolean },
  terminal: Terminal,
): Promise<Result> {
  const [{ readableStateRoot }, { listSwarms }] = await Promise.all([
    import('../state-root.ts'),
    import('../swarm/list-swarms.ts'),
  ]);
  const stateRoot = readableStateRoot(options);
  const all = await listSwarms(stateRoot);
  const swarms = options.running === true ? all.filter(({ running }) => running) : all;
  return { json: swarms, text: swarms.length === 0 ? tellNone(all, stateRoot) : renderSwarms(swarms, terminal) };
}

function tellNone(all: readonly ListedSwarm[], stateRoot: string): string {
  return all.length === 0
    ? `No swarm has run yet (state root: ${stateRoot}). Start one with \`gdn run\`.\n`
    : 'No swarm is running. `gdn ls` without --running lists the others.\n';
}

const heads = ['swarm', 'state', 'agents', 'workspace', 'folder'];

/** Renders a table. The folder is the last column, because it is long. */
function renderSwarms(swarms: readonly ListedSwarm[], { colors }: Terminal): string {
  const rows = swarms.map(({ swarm, agents, workspaceId, ...each }) =>
    [
      swarm ?? '?',
      showState(each),
      showAgents(agents),
      workspaceId,
      each.folder === null ? 'unknown' : `${fromHome(each.folder)}${each.folderExists ? '' : ' (missing)'}`,
    ].map((cell) => harmlessText(cell)),
  );
  const widths = heads.map((_, index) => Math.max(...[heads, ...rows].map((row) => widthOf(row[index] ?? ''))));
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, index) => padToWidth(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return `${colors.dim(lineOf(heads))}\n${rows.map((row) => `${lineOf(row)}\n`).join('')}`;
}

function showState({ running, answers, pid }: Pick<ListedSwarm, 'running' | 'answers' | 'pid'>): string {
  if (answers === false) return 'does not answer';
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
