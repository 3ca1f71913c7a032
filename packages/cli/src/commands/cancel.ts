import { addressIn, type InstanceOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';

export function addCancelCommand(program: GdnCommand): void {
  program
    .command('cancel')
    .summary('cancel a turn of a running swarm')
    .description(
      'Cancels the running turn of an agent instance, or, with --id, another turn, even if it has not ' +
        'begun. If nothing is running it says so and exits 0.',
    )
    .option('--agent <name>', 'the agent (default: the entry agent)')
    .option('--instance <key>', 'the conversation of that agent (default: "default")')
    .option('--id <id>', 'the id of the turn, short or whole, as `gdn send` prints it')
    .bundleOptions()
    .examples('gdn cancel --bundle my-swarm --agent assistant')
    .runs(async (options: InstanceOptions & { readonly id?: string }) => {
      const { reachSwarm } = await import('../swarm/reach-swarm.ts');
      const swarm = await reachSwarm(
        options,
        'No turn is running. `gdn status` lists the inputs that wait for the next start.',
      );
      const turn = options.id === undefined ? {} : { eventId: options.id };
      const cancelled = await swarm.cancel({ ...addressIn(options), ...turn });
      return { json: { cancelled }, text: cancelled ? 'Cancelled.\n' : 'No such turn is running or waiting.\n' };
    });
}
