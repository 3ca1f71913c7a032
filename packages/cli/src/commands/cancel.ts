import type { Swarm } from '@goondan/runtime';
import { addressIn, type InstanceOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';

type CancelOptions = InstanceOptions & { readonly id?: string };

export function addCancelCommand(program: GdnCommand): void {
  program
    .command('cancel')
    .summary('cancel a turn of a running swarm')
    .description(
      'Cancels the running turn of a conversation, or, with --id, the turn with this id in any conversation, even if ' +
        'it has not begun. If there is no such turn, it says so and exits 0; if the swarm does not run, it exits 3.',
    )
    .option('--agent <name>', 'the agent (default: the entry agent; with --id, any agent)')
    .option('--instance <key>', 'the conversation of that agent (default: "default"; with --id, any conversation)')
    .option('--id <id>', 'the id of the turn, short or whole, as `gdn send` prints it')
    .swarmOptions()
    .examples('gdn cancel --bundle my-swarm --agent my-swarm')
    .runs(async (options: CancelOptions) => {
      const { reachSwarm } = await import('../swarm/reach-swarm.ts');
      const swarm = await reachSwarm(
        options,
        'No turn is running. `gdn status` lists the inputs that wait for the next start.',
      );
      const turn = options.id === undefined ? {} : { eventId: options.id };
      const cancelled = await swarm.cancel({ ...addressIn(options), ...turn });
      return { json: { cancelled }, text: cancelled ? 'Cancelled.\n' : `${await describeMiss(swarm, options)}\n` };
    });
}

/** Says that no turn was cancelled, and the likely mistake in the options. */
async function describeMiss(swarm: Swarm, { id, instance }: CancelOptions): Promise<string> {
  const miss = id === undefined ? 'No such turn is running or waiting.' : `No turn "${id}" is running or waiting.`;
  if (instance !== undefined && !(await swarm.instances()).some(({ instanceKey }) => instanceKey === instance)) {
    return harmlessText(`${miss} There is no conversation "${instance}".`);
  }
  const isTooShort = id !== undefined && /^[\da-f]{1,7}$/.test(id);
  return harmlessText(isTooShort ? `${miss} A short id has at least 8 characters.` : miss);
}
