import { addressIn, type InstanceOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';

export function addRestartCommand(program: GdnCommand): void {
  program
    .command('restart')
    .summary('replace the processes of a running swarm')
    .description(
      'Replaces the processes of agent instances between turns; their conversations continue. With --fresh the ' +
        'conversations start over, and the archive keeps the old ones. After a change of the bundle, use `gdn ' +
        'reload`.',
    )
    .option('--agent <name>', 'only instances of this agent')
    .option('--instance <key>', 'only the instance of this conversation')
    .option('--fresh', 'start the conversations over')
    .bundleOptions()
    .examples('gdn restart --bundle my-swarm --agent assistant --fresh')
    .runs(async (options: InstanceOptions & { readonly fresh?: boolean }) => {
      const { reachSwarm } = await import('../swarm/reach-swarm.ts');
      const swarm = await reachSwarm(options);
      const restarted = await swarm.restart({ fresh: options.fresh ?? false, ...addressIn(options) });
      const count = restarted === 1 ? '1 instance' : `${restarted} instances`;
      return { json: { restarted }, text: `${count} restarted.\n` };
    });
}
