import type { ClusterAccess } from '../cluster/cluster-access.ts';
import type { BundleOptions } from '../common-options.ts';
import { exitCodes } from '../exit-codes.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessLines } from '../harmless-text.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addStoreImportCommand(store: GdnCommand): void {
  store
    .command('import')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('copy the conversations of a stopped swarm')
    .description(
      'Copies everything that a stopped swarm keeps in files into a database: conversations with their history, waiting ' +
        'inputs, dead letters, open approval requests and traces. The files do not change. Type the command again after ' +
        'an interruption: conversations that were copied are skipped. Exits with 1 when a conversation is damaged; the ' +
        'others are copied.',
    )
    .flockOption()
    .swarmOptions()
    .examples(
      'GOONDAN_STORE= gdn stop --bundle my-swarm',
      'gdn store import my-swarm --store postgres://gdn@db.example/gdn',
    )
    .runs(importSwarm);
}

async function importSwarm(
  options: BundleOptions & { readonly flock: boolean },
  terminal: Terminal,
  argument?: string,
): Promise<Result> {
  const [{ needCluster }, { importFiles }] = await Promise.all([
    import('../cluster/need-cluster.ts'),
    import('../cluster/import-files.ts'),
  ]);
  const cluster = needCluster(options);
  const { bundleFolder } = await import('../common-options.ts');
  const named = { ...options, bundle: bundleFolder(argument, options) };
  const imported = await withInterrupt((signal) => importFiles(cluster, named, terminal, signal), stopSignals);
  const { swarm, key, conversations, skipped, newer, problems } = imported;
  for (const problem of problems) terminal.printError(`warn: ${harmlessLines(problem)}\n`);
  const before = skipped === 0 ? '' : `; ${skipped} ${skipped === 1 ? 'was' : 'were'} there already`;
  return {
    json: { swarm, key, conversations, skipped, problems },
    text: `Imported ${conversations} ${conversations === 1 ? 'conversation' : 'conversations'} of swarm "${swarm}" into ${cluster.shown}${before}.\n${advise(cluster, newer)}`,
    code: problems.length === 0 ? exitCodes.ok : exitCodes.failure,
  };
}

/** Says which copy counts from now on. A command without the store would go on with the files. */
function advise({ typed }: Pick<ClusterAccess, 'typed'>, newer: number): string {
  const set = typed === undefined ? 'Keep GOONDAN_STORE set' : 'Set GOONDAN_STORE to the address of the store';
  const again =
    'Conversations that differ from those in the store were not copied. To take their files, import them into an empty database.\n';
  return `From now on, the files are the old copy. ${set}: without it, commands go on with the files.\n${newer === 0 ? '' : again}`;
}
