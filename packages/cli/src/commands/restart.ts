import type { InstanceStatus, Swarm } from '@goondan/runtime';
import { addressIn, type InstanceOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

type RestartOptions = InstanceOptions & { readonly fresh?: boolean; readonly yes?: boolean };

export function addRestartCommand(program: GdnCommand): void {
  program
    .command('restart')
    .summary('replace the processes of a running swarm')
    .description(
      'Replaces the processes of agent instances between turns; their conversations continue. A process that is starting ' +
        'for waiting input begins its turn first. A turn that waits for a person continues in the new process, and its question stays open, unless a tool asks that must not run twice. With --fresh the ' +
        'conversations start over, and the history keeps the old ones. If more than one conversation starts over, or all ' +
        'of the swarm, the command asks first; without a terminal it needs --yes. The swarm has to run. After a change of ' +
        'the bundle, use `gdn reload`.',
    )
    .option('--agent <name>', 'only instances of this agent')
    .option('--instance <key>', 'only the instance of this conversation')
    .option('--fresh', 'start the conversations over')
    .option('--yes', 'do not ask')
    .swarmOptions()
    .examples('gdn restart --bundle my-swarm --agent my-swarm --instance default --fresh')
    .runs(restart);
}

async function restart(options: RestartOptions, terminal: Terminal): Promise<Result> {
  const { reachSwarm } = await import('../swarm/reach-swarm.ts');
  const swarm = await reachSwarm(options);
  const { fresh = false, yes = false } = options;
  const chosen = fresh || options.instance !== undefined ? await chooseInstances(swarm, options) : [];
  if (fresh && !yes) await withInterrupt((signal) => confirmFresh(chosen.length, options, terminal, signal));
  const restarted = await swarm.restart({ fresh, ...addressIn(options) });
  const count = restarted === 1 ? '1 instance' : `${restarted} instances`;
  return { json: { restarted }, text: `${count} restarted.\n` };
}

/** **Errors** — `E_INSTANCE_UNKNOWN` if no conversation has the given key; those of the control socket. */
async function chooseInstances(swarm: Swarm, { agent, instance }: RestartOptions): Promise<readonly InstanceStatus[]> {
  const all = await swarm.instances();
  const chosen = all.filter((each) => each.agent === (agent ?? each.agent));
  if (instance === undefined) return chosen;
  const [{ unknownInstance }, { toAgentAddress }] = await Promise.all([
    import('../instance/unknown-instance.ts'),
    import('@goondan/runtime/control'),
  ]);
  const found = chosen.filter(({ instanceKey }) => instanceKey === instance);
  // The swarm has a better error for an agent that it does not have.
  const isKnown = agent === undefined || (await swarm.status()).agents.includes(agent);
  if (found.length > 0 || !isKnown) return found;
  const whose = agent === undefined ? {} : { agentName: agent };
  throw unknownInstance({ ...whose, instanceKey: instance }, all.map(toAgentAddress));
}

/**
 * Asks before several conversations, or all of the swarm, start over. **Errors** — those of `confirm`.
 */
async function confirmFresh(
  count: number,
  options: RestartOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { agent, instance } = options;
  const isAll = agent === undefined && instance === undefined;
  if (count === 0 || (count === 1 && !isAll)) return;
  const { confirm } = await import('../confirm.ts');
  const many = isAll ? `all ${count} conversations of the swarm` : `${count} conversations${ofChoice(options)}`;
  const which = count === 1 ? 'the only conversation of the swarm' : many;
  const question = `Start ${which} over, without messages and states of extensions?`;
  const otherwise = 'Nothing was restarted.';
  const typed = [
    'gdn restart --fresh',
    ...(agent === undefined ? [] : ['--agent', quoteForShell(agent)]),
    ...(instance === undefined ? [] : ['--instance', quoteForShell(instance)]),
  ];
  await confirm({ purpose: `start ${which} over`, question, otherwise, typed }, options, terminal, signal);
}

/** Without an agent, a key may belong to conversations of several agents. */
function ofChoice({ agent, instance }: RestartOptions): string {
  return agent === undefined ? ` with the key ${JSON.stringify(instance)}` : ` of ${agent}`;
}
