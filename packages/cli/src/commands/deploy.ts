import { InvalidArgumentError } from 'commander';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { NodeReply } from '../cluster/await-nodes.ts';
import { exitCodes } from '../exit-codes.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addDeployCommand(program: GdnCommand): void {
  program
    .command('deploy')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('give a bundle to all nodes of a swarm')
    .description(
      'Stores a bundle in the database of its swarm, and makes it the one that all nodes run. Every node takes it like ' +
        '`gdn reload`: a running turn goes on, and a bundle that does not start changes nothing at that node. Without a ' +
        'running node, it is checked but not tried, and the next one starts with it. Waits up to a minute until every node has ' +
        'taken or refused it; the exit code is 1 if one has not taken it. If every node refuses it, the bundle before is ' +
        'deployed again. Secrets are not stored: every node reads them from its own environment. ' +
        'The nodes run the code of the bundle without asking.',
    )
    .option('--no-wait', 'do not wait until the nodes have taken it')
    .option(
      '--expect <digest>',
      'deploy only if this bundle is the deployed one; the first 12 characters are enough',
      checkDigest,
    )
    .swarmOptions()
    .examples('gdn deploy my-swarm --store postgres://gdn@db.example/gdn')
    .readsBundle('use')
    .runs((options: DeployOptions, terminal, argument?: string) =>
      withInterrupt((signal) => deploy(options, terminal, signal, argument)),
    );
}

type DeployOptions = BundleOptions & { readonly wait: boolean; readonly expect?: string };

/** **Errors** — `commander.invalidArgument` for a text that is no digest, or too short for one. */
function checkDigest(text: string): string {
  if (/^[0-9a-f]{12,64}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a digest, or its first 12 characters or more, as `gdn nodes` shows it.');
}

async function deploy(
  options: DeployOptions,
  terminal: Terminal,
  signal: AbortSignal,
  argument?: string,
): Promise<Result> {
  const [{ needCluster }, { deployBundle, takeBack }, { awaitNodes }] = await Promise.all([
    import('../cluster/need-cluster.ts'),
    import('../cluster/deploy-bundle.ts'),
    import('../cluster/await-nodes.ts'),
  ]);
  const cluster = needCluster(options);
  const request = { ...options, folder: bundleFolder(argument, options) };
  const deployed = await deployBundle(cluster, request, terminal);
  const { swarm, key, digest, isNew, bytes, nodes } = deployed;
  const short = digest.slice(0, 12);
  const done = isNew ? `Deployed ${short} for swarm "${swarm}"` : `${short} is deployed already`;
  const json = { swarm, digest, deployed: isNew, bytes, nodes };
  if (nodes === 0)
    return { json, text: `${done}: no node runs, so it was checked but not tried; the next one starts with it.\n` };
  if (!options.wait) return { json, text: `${done}: ${nodes} ${nodes === 1 ? 'node takes' : 'nodes take'} it.\n` };
  const store = await cluster.open();
  const onReply = (reply: NodeReply) => {
    if (terminal.showsProgress) terminal.printError(`${describe(reply)}\n`);
  };
  const replies = await awaitNodes(digest, { nodes: () => store.nodes(key), onReply, signal });
  if (replies.every(({ state }) => state === 'taken')) {
    const text = `${done}: ${replies.length} ${replies.length === 1 ? 'node has' : 'nodes have'} taken it.\n`;
    return { json: { ...json, replies }, text };
  }
  const isRefused = replies.every(({ state }) => state === 'refused');
  const isTakenBack = isRefused && (await takeBack(store.deployments(key), deployed));
  const outcome = isTakenBack
    ? `Every node refused ${short}, so the bundle before is deployed again`
    : `${done}, but not every node has taken it. To go back, deploy the files of the bundle before`;
  return {
    json: { ...json, deployed: isNew && !isTakenBack, isTakenBack, replies },
    text: `${outcome}:\n${replies.map((each) => `  ${describe(each)}\n`).join('')}`,
    // A script learns that the swarm does not run this bundle everywhere.
    code: exitCodes.failure,
  };
}

function describe({ node, state, problem = '' }: NodeReply): string {
  const name = `Node "${harmlessText(node)}"`;
  if (state === 'refused') return `${name} refuses it, and runs the bundle before: ${harmlessText(problem)}`;
  return state === 'taken' ? `${name} has taken it.` : `${name} has not answered in time; see \`gdn nodes\`.`;
}
