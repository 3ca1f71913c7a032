import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';

const EXAMPLE_STORE = '--store postgres://gdn@db.example/gdn';

export function addNodesCommand(program: GdnCommand): void {
  const group = program
    .command('nodes')
    .summary('list the nodes of a swarm on many machines')
    .description(
      'Lists the living nodes of a swarm in a database: the number of their processes and conversations, their version, ' +
        'their bundle and their address. A node that died is listed until its lease ends. `gdn nodes drain` empties a node.',
    )
    .swarmOptions()
    // The options of `gdn nodes drain` come after its name, and belong to it.
    .enablePositionalOptions()
    .examples(`gdn nodes ${EXAMPLE_STORE}`, `gdn nodes drain node-2 ${EXAMPLE_STORE}`)
    .runs(showNodes);

  group
    .command('drain')
    .argument('<name>', 'the name of the node')
    .summary('move the conversations of a node away')
    .description(
      'Asks a node to give up its conversations and connections. Running turns finish first; other nodes take the rest. The ' +
        'node keeps running without work until it is stopped. To undo this, stop the node and start it again.',
    )
    .swarmOptions()
    .examples(`gdn nodes drain node-2 ${EXAMPLE_STORE}`)
    .runs(drain);
}

async function placeOf(options: BundleOptions) {
  const [{ needCluster }, { findInStore }] = await Promise.all([
    import('../cluster/need-cluster.ts'),
    import('../swarm/find-in-store.ts'),
  ]);
  const cluster = needCluster(options);
  return { store: await cluster.open(), ...(await findInStore(cluster, options)) };
}

async function showNodes(options: BundleOptions, terminal: Terminal): Promise<Result> {
  const [{ store, swarm, workspaceId }, { renderTable }] = await Promise.all([
    placeOf(options),
    import('../render-table.ts'),
  ]);
  const nodes = (await store.nodes(workspaceId)).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  // Fields of this JSON may be added, but are never renamed.
  const json = nodes.map(({ name, since, version, control, load, instances, isDraining, bundle }) => ({
    ...{ name, since: since.toISOString(), version, address: control?.address ?? null, processes: load, instances },
    draining: isDraining,
    bundle: bundle?.digest ?? null,
    ...(bundle?.refused && { refused: bundle.refused }),
  }));
  const rows = json.map(({ name, draining, processes, instances, version, bundle, since, address }) => [
    name,
    draining ? 'drains' : 'lives',
    String(processes),
    String(instances),
    version,
    bundle?.slice(0, 12) ?? '-',
    showTime(since, terminal),
    address ?? '-',
  ]);
  const heads = ['node', 'state', 'processes', 'conversations', 'version', 'bundle', 'since', 'address'];
  return {
    json,
    text: rows.length === 0 ? `No node of swarm "${swarm}" is running.\n` : renderTable(heads, rows, terminal),
  };
}

async function drain(options: BundleOptions, terminal: Terminal, name: string): Promise<Result> {
  const [{ store, cluster, workspaceId }, { operatingToken }, { areAllDraining, NO_NODE_TAKES_WORK }] =
    await Promise.all([
      placeOf(options),
      import('../cluster/operating-token.ts'),
      import('../cluster/tell-idle-nodes.ts'),
    ]);
  await operatingToken(cluster, '`gdn nodes drain`');
  await store.drain(workspaceId, name);
  if (areAllDraining(await store.nodes(workspaceId))) terminal.printError(`warn: ${NO_NODE_TAKES_WORK}\n`);
  const text = `Node "${name}" gives up its conversations between turns. To undo this, stop the node and start it again.\n`;
  return { json: { drained: true, node: name }, text };
}
