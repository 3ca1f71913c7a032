import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';

export function addDeployCommand(program: GdnCommand): void {
  program
    .command('deploy')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('give a bundle to all nodes of a swarm')
    .description(
      'Stores a bundle in the database of its swarm, and makes it the one that all nodes run. Every node takes it like ' +
        '`gdn reload`: a running turn goes on, and a bundle that does not start changes nothing at that node. Without a ' +
        'running node, the next one starts with it. Secrets are not stored: every node reads them from its own environment. ' +
        'The nodes run the code of the bundle without asking.',
    )
    .swarmOptions()
    .examples('gdn deploy my-swarm --store postgres://gdn@db.example/gdn')
    .readsBundle('use')
    .runs(deploy);
}

async function deploy(options: BundleOptions, terminal: Terminal, argument?: string): Promise<Result> {
  const [{ needCluster }, { deployBundle }] = await Promise.all([
    import('../cluster/need-cluster.ts'),
    import('../cluster/deploy-bundle.ts'),
  ]);
  const cluster = needCluster(options);
  const request = { ...options, folder: bundleFolder(argument, options) };
  const { swarm, digest, isNew, bytes, nodes } = await deployBundle(cluster, request, terminal);
  const short = digest.slice(0, 12);
  const who =
    nodes === 0
      ? 'no node runs; the next one starts with it'
      : `${nodes} ${nodes === 1 ? 'node takes' : 'nodes take'} it`;
  const text = isNew ? `Deployed ${short} for swarm "${swarm}": ${who}.\n` : `${short} is deployed already.\n`;
  return { json: { swarm, digest, deployed: isNew, bytes, nodes }, text };
}
