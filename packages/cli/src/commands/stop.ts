import { InvalidArgumentError } from 'commander';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { optionsAgain } from '../swarm/options-again.ts';
import type { Terminal } from '../terminal.ts';
import { typedGdn } from '../typed-gdn.ts';

export function addStopCommand(program: GdnCommand): void {
  const command = program
    .command('stop')
    .summary('stop a running swarm')
    .description(
      'Lets running turns finish, then stops the swarm; waiting inputs are handled at the next start. The command ' +
        'ends when every process of the swarm has ended. Run it again to stop without waiting for turns. With --store it ' +
        'stops all nodes, or the one that --node names.',
    )
    .option(
      '--grace <seconds>',
      'the time that running turns may take (default: the setting of the swarm, else 30)',
      readSeconds,
    )
    .option('--node <name>', 'with --store: only this node')
    .swarmOptions()
    .examples('gdn stop --bundle my-swarm --grace 5')
    .runs(async (options: StopOptions, terminal) => {
      const { node, cluster } = options;
      if (node !== undefined && cluster === undefined)
        command.error("option '--node' needs option '--store', or GOONDAN_STORE");
      if (cluster !== undefined) return stopNodes(cluster, options, terminal);
      const [{ reachSwarm }, { stopSwarm }] = await Promise.all([
        import('../swarm/reach-swarm.ts'),
        import('../swarm/stop-swarm.ts'),
      ]);
      const swarm = await reachSwarm(options, 'There is nothing to stop.');
      const graceMs = options.grace === undefined ? undefined : options.grace * 1_000;
      const stopNow = stopNowCommand(options);
      await stopSwarm({ swarm, graceMs, stopNow }, terminal);
      return { json: { stopped: true }, text: 'Stopped.\n' };
    });
}

function stopNowCommand(options: StopOptions): string {
  const node = options.node === undefined ? [] : ['--node', options.node];
  return [`${typedGdn()} stop`, ...optionsAgain(options), ...node, '--grace 0'].join(' ');
}

async function stopNodes(cluster: ClusterAccess, options: StopOptions, terminal: Terminal): Promise<Result> {
  const { stopNodes: stop } = await import('../cluster/stop-nodes.ts');
  const graceMs = options.grace === undefined ? undefined : options.grace * 1_000;
  const stopped = await stop(cluster, { ...options, graceMs, stopNow: stopNowCommand(options) }, terminal);
  return { json: { stopped: true, nodes: stopped }, text: `Stopped ${stopped.join(', ')}.\n` };
}

interface StopOptions extends BundleOptions {
  readonly grace?: number;
  readonly node?: string;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= LONGEST) return seconds;
  throw new InvalidArgumentError(`It is not a number of seconds from 0 to ${LONGEST}.`);
}

/** The longest grace: one hour, in seconds. */
const LONGEST = 3_600;
