import type { Swarm } from '@goondan/runtime';
import { addressIn, type InstanceOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

type RestartOptions = InstanceOptions & { readonly fresh?: boolean; readonly yes?: boolean };

export function addRestartCommand(program: GdnCommand): void {
  program
    .command('restart')
    .summary('replace the processes of a running swarm')
    .description(
      'Replaces the processes of agent instances between turns; their conversations continue. With --fresh the ' +
        'conversations start over, and the history keeps the old ones. With --fresh but without --agent and --instance, ' +
        'all conversations start over: the command then asks first, and without a terminal it needs --yes. After a change ' +
        'of the bundle, use `gdn reload`.',
    )
    .option('--agent <name>', 'only instances of this agent')
    .option('--instance <key>', 'only the instance of this conversation')
    .option('--fresh', 'start the conversations over')
    .option('--yes', 'do not ask')
    .bundleOptions()
    .examples('gdn restart --bundle my-swarm --agent assistant --fresh')
    .runs(restart);
}

async function restart(options: RestartOptions, terminal: Terminal): Promise<Result> {
  const { reachSwarm } = await import('../swarm/reach-swarm.ts');
  const swarm = await reachSwarm(options);
  const { fresh = false, yes = false, agent, instance } = options;
  const isAll = agent === undefined && instance === undefined;
  if (fresh && isAll && !yes) await withInterrupt((signal) => confirmAll(swarm, options, terminal, signal));
  const restarted = await swarm.restart({ fresh, ...addressIn(options) });
  const count = restarted === 1 ? '1 instance' : `${restarted} instances`;
  return { json: { restarted }, text: `${count} restarted.\n` };
}

/** Asks, unless there is no conversation. **Errors** — those of `confirm` and of the control socket. */
async function confirmAll(
  swarm: Swarm,
  options: RestartOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { length } = await swarm.instances();
  if (length === 0) return;
  const { confirm } = await import('../confirm.ts');
  const all = length === 1 ? 'the only conversation of the swarm' : `all ${length} conversations of the swarm`;
  const question = `Start ${all} over, without messages and states of extensions?`;
  const otherwise = 'Nothing was restarted.';
  const typed = ['gdn restart --fresh'];
  await confirm({ purpose: `start ${all} over`, question, otherwise, typed }, options, terminal, signal);
}
