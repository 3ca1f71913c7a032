import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessLines, harmlessText } from '../harmless-text.ts';
import type { MissingAgents } from '../instance/find-missing-agents.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addRestoreCommand(program: GdnCommand): void {
  program
    .command('restore')
    .argument('<backup-folder>', 'a folder that `gdn backup` has written')
    .summary('write a backup into a state root')
    .description(
      'Writes the conversations of a backup into the state root, for the swarm of the bundle: on this machine or another ' +
        'one, in the same state root or another one, for the same folder of the bundle or another one. The swarm must ' +
        'not run, and must not have conversations. The command checks every file first; if one is damaged, nothing is restored. The backup does not ' +
        'change. Start the swarm afterwards with `gdn run`.',
    )
    .flockOption()
    .bundleOptions()
    .filesOnly(
      'Restore a database with the tools of PostgreSQL, such as pg_restore. To copy a backup into a database, restore it ' +
        'to files first, and then type `gdn store import`.',
    )
    .examples('gdn restore backups/monday --bundle my-swarm')
    .runs((options: RestoreOptions, terminal, backup: string) =>
      withInterrupt(
        (signal) => restore(options, terminal, backup, signal),
        stopSignals,
        () => terminal.printError(NOT_CLEANED_UP),
      ),
    );
}

type RestoreOptions = BundleOptions & { readonly flock: boolean };

const NOT_CLEANED_UP =
  'The restore was not cleaned up. If it has left an incomplete copy, the next `gdn restore` or start removes it.\n';

async function restore(
  options: RestoreOptions,
  terminal: Terminal,
  backup: string,
  signal: AbortSignal,
): Promise<Result> {
  const [{ filePlaceOf }, { restoreSwarm }, { findMissingAgents }, { showCopyProgress }, { count }] = await Promise.all(
    [
      import('../swarm/reach-swarm.ts'),
      import('../instance/restore-swarm.ts'),
      import('../instance/find-missing-agents.ts'),
      import('../instance/show-copy-progress.ts'),
      import('./backup.ts'),
    ],
  );
  const found = await filePlaceOf(options);
  const place = { ...found, flock: options.flock, bundle: bundleFolder(undefined, options) };
  const restored = await restoreSwarm(place, backup, signal, showCopyProgress(terminal));
  const { conversations, files, bytes, startedAt, problems, droppedGrants } = restored;
  for (const problem of problems)
    terminal.printError(`warn: The backup was made with this problem: ${harmlessLines(problem)}\n`);
  const missing = await findMissingAgents(place);
  if (missing.agents.length > 0) terminal.printError(`warn: ${describeMissing(missing, found.swarm)}\n`);
  const { swarm, stateRoot } = found;
  return {
    json: {
      ...{ backup, swarm, stateRoot, conversations, files, bytes, startedAt, problems, droppedGrants },
      ...(missing.agents.length === 0 ? {} : { missingAgents: missing.agents }),
    },
    text: `Restored ${count(conversations, 'conversation')} of swarm "${swarm}" into ${stateRoot}: ${count(files, 'file')}, ${bytes} bytes.\n${describeGrants(droppedGrants)}`,
  };
}

function describeGrants(dropped: number): string {
  if (dropped === 0) return '';
  const answers = dropped === 1 ? '1 answer for always is' : `${dropped} answers for always are`;
  return `${answers} not restored: people are asked again.\n`;
}

function describeMissing({ agents, conversations }: MissingAgents, swarm: string): string {
  const shown = agents.slice(0, MOST_NAMED).map((name) => `"${name}"`);
  const more = agents.length > MOST_NAMED ? ` and ${agents.length - MOST_NAMED} more` : '';
  const agent = agents.length === 1 ? 'agent' : 'agents';
  const outcome =
    conversations === 1
      ? '1 conversation is restored, but does not start'
      : `${conversations} conversations are restored, but do not start`;
  return harmlessText(
    `Swarm "${swarm}" of this bundle has no ${agent} ${shown.join(', ')}${more}: ${outcome} until the bundle has the ${agent}. ` +
      'Inputs that wait are kept until then.',
  );
}

/** The number of agents in a warning; `--json` has all. */
const MOST_NAMED = 5;
