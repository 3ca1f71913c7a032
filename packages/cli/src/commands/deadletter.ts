import { GoondanError } from '@goondan/types';
import { addressIn, type BundleOptions, type InstanceOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

export function addDeadletterCommand(program: GdnCommand): void {
  const group = program
    .command('deadletter')
    .summary('list, retry or drop dead letters')
    .description(
      'An input that crashes its agent repeatedly becomes a dead letter. These commands list, retry or drop dead ' +
        'letters. The swarm must be running.',
    )
    .examples('gdn deadletter list --bundle my-swarm');

  group
    .command('list')
    .summary('list dead letters')
    .description('Lists the dead letters, each with the reason of its crashes.')
    .option('--agent <name>', 'only dead letters of this agent')
    .option('--instance <key>', 'only dead letters of this conversation')
    .bundleOptions()
    .examples('gdn deadletter list --bundle my-swarm --agent assistant')
    .runs(showLetters);

  addOrder('retry', 'try an input again', 'Delivers the input again, as a new event.', 'Accepted again.');
  addOrder(
    'drop',
    'drop an input',
    'Deletes the dead letter. Its failed turn stays in the conversation.',
    'Forgotten.',
  );

  function addOrder(name: keyof typeof orders, summary: string, description: string, done: string): void {
    group
      .command(name)
      .argument('<agent>', 'the agent of the input')
      .argument('<instance>', 'the key of the conversation')
      .argument('<id>', 'the id of the input, as `gdn deadletter list` shows it')
      .summary(summary)
      .description(description)
      .bundleOptions()
      .examples(`gdn deadletter ${name} assistant default mail-17 --bundle my-swarm`)
      .runs(async (options: BundleOptions, terminal, agent: string, instanceKey: string, id: string) => {
        const { reachSwarm } = await import('../swarm/reach-swarm.ts');
        const { method, field } = orders[name];
        const swarm = await reachSwarm(options);
        if (!(await swarm[method]({ agent, instanceKey, eventId: id }))) throw unknownLetter(agent, instanceKey, id);
        if (options.json === true) printJson({ [field]: true }, terminal);
        else terminal.print(`${done}\n`);
      });
  }
}

const orders = {
  retry: { method: 'retryDeadLetter', field: 'retried' },
  drop: { method: 'dropDeadLetter', field: 'dropped' },
} as const;

async function showLetters(options: InstanceOptions, terminal: Terminal): Promise<void> {
  const { reachSwarm } = await import('../swarm/reach-swarm.ts');
  const swarm = await reachSwarm(options);
  const letters = await swarm.deadLetters(addressIn(options));
  if (options.json === true) return printJson(letters, terminal);
  if (letters.length === 0) return terminal.print('There are no dead letters.\n');
  for (const { agent, instanceKey, eventId, reason, deadAt, input } of letters) {
    terminal.print(`${agent} ${instanceKey} ${eventId}  ${deadAt}\n    ${reason}\n`);
    if (input !== undefined) terminal.print(`    ${JSON.stringify(input.slice(0, MOST_SHOWN))}\n`);
  }
}

const MOST_SHOWN = 200;

function unknownLetter(agent: string, instanceKey: string, id: string): GoondanError {
  return new GoondanError('E_DEAD_LETTER_UNKNOWN', `There is no dead letter "${id}" of ${agent} (${instanceKey}).`);
}
