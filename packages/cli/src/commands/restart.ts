import type { Command } from 'commander';
import { addBundleOptions, addressIn, type InstanceOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

export function addRestartCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('restart')
    .summary('replace the processes of a running swarm')
    .description(
      'Replaces the processes of agent instances between turns; their conversations continue. With --fresh the ' +
        'conversations start over, and the archive keeps the old ones. After a change of the bundle, use `gdn ' +
        'reload`.',
    )
    .option('--agent <name>', 'only instances of this agent')
    .option('--instance <key>', 'only the instance of this conversation')
    .option('--fresh', 'start the conversations over');
  addBundleOptions(command)
    .addHelpText('after', '\nExample:\n  $ gdn restart --bundle my-swarm --agent assistant --fresh')
    .action(async (options: InstanceOptions & { readonly fresh?: boolean }) => {
      const { reachSwarm } = await import('../swarm/reach-swarm.ts');
      const swarm = await reachSwarm(options);
      const restarted = await swarm.restart({ fresh: options.fresh ?? false, ...addressIn(options) });
      if (options.json === true) printJson({ restarted }, terminal);
      else terminal.print(`${restarted === 1 ? '1 instance' : `${restarted} instances`} restarted.\n`);
      finish(exitCodes.ok);
    });
}
