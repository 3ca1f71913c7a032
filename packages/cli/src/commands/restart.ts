import type { Command } from 'commander';
import { addBundleOptions, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

interface RestartOptions extends BundleOptions {
  readonly agent?: string;
  readonly instance?: string;
  readonly fresh?: boolean;
}

export function addRestartCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('restart')
    .summary('replace the processes of a running swarm')
    .description(
      'Replaces the processes of agent instances between turns; their conversations continue. With --fresh the ' +
        'conversations start over, and the archive keeps the old ones. After a change of the bundle, use `gdn ' +
        'reload`.',
    )
    .option('--agent <name>', 'only those of this agent')
    .option('--instance <key>', 'only those of this conversation')
    .option('--fresh', 'start the conversations over');
  addBundleOptions(command)
    .addHelpText('after', '\nExample:\n  $ gdn restart --bundle my-swarm --agent assistant --fresh')
    .action(async (options: RestartOptions) => {
      const { reachSwarm } = await import('../swarm/reach-swarm.ts');
      const { agent, instance, fresh = false } = options;
      const swarm = await reachSwarm(options);
      const restarted = await swarm.restart({
        fresh,
        ...(agent === undefined ? {} : { agent }),
        ...(instance === undefined ? {} : { instanceKey: instance }),
      });
      if (options.json === true) printJson({ restarted }, terminal);
      else terminal.print(`${restarted === 1 ? '1 instance' : `${restarted} instances`} restarted.\n`);
      finish(exitCodes.ok);
    });
}
