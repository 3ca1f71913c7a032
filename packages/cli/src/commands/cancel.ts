import type { Command } from 'commander';
import { addBundleOptions, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

interface CancelOptions extends BundleOptions {
  readonly agent?: string;
  readonly instance?: string;
  readonly id?: string;
}

export function addCancelCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('cancel')
    .summary('cancel a turn of a running swarm')
    .description(
      'Cancels the running turn of an agent instance, or, with --id, the turn of one input, even if it has not ' +
        'begun. If nothing is running it says so and exits 0.',
    )
    .option('--agent <name>', 'the agent (default: the entry agent)')
    .option('--instance <key>', 'the conversation of that agent (default: "default")')
    .option('--id <id>', 'the id of the input, as `gdn send` printed it');
  addBundleOptions(command)
    .addHelpText('after', '\nExample:\n  $ gdn cancel --bundle my-swarm --agent assistant')
    .action(async (options: CancelOptions) => {
      const { reachSwarm } = await import('../swarm/reach-swarm.ts');
      const { agent, instance, id } = options;
      const swarm = await reachSwarm(options);
      const cancelled = await swarm.cancel({
        ...(agent === undefined ? {} : { agent }),
        ...(instance === undefined ? {} : { instanceKey: instance }),
        ...(id === undefined ? {} : { eventId: id }),
      });
      if (options.json === true) printJson({ cancelled }, terminal);
      else terminal.print(cancelled ? 'Cancelled.\n' : 'There was no such turn.\n');
      finish(exitCodes.ok);
    });
}
