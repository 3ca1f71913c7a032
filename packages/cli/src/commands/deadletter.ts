import { GoondanError } from '@goondan/types';
import { addressIn, type InstanceOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';

export function addDeadletterCommand(program: GdnCommand): void {
  const group = program
    .command('deadletter')
    .summary('list, retry or drop dead letters')
    .description(
      'An input that crashes its agent repeatedly becomes a dead letter. These commands list, retry or drop dead ' +
        'letters. To retry or drop one, the swarm must be running.',
    )
    .examples('gdn deadletter list --bundle my-swarm');

  group
    .command('list')
    .summary('list dead letters')
    .description('Lists the dead letters, each with the reason of its crashes. The swarm does not have to run.')
    .option('--agent <name>', 'only dead letters of this agent')
    .option('--instance <key>', 'only dead letters of this conversation')
    .swarmOptions()
    .examples('gdn deadletter list --bundle my-swarm --agent my-swarm')
    .runs(showLetters);

  addOrder('retry', 'try an input again', 'Delivers the input again, as a new event.', retriedText);
  addOrder(
    'drop',
    'drop an input',
    'Deletes the dead letter. Its failed turn stays in the conversation.',
    () => 'Dropped.\n',
  );

  function addOrder(name: keyof typeof orders, summary: string, description: string, textOf: TextOf): void {
    group
      .command(name)
      .argument('<id>', 'the id of the turn, short or whole, as `gdn deadletter list` shows it')
      .summary(summary)
      .description(description)
      .option('--agent <name>', 'the agent, if several have a dead letter with this id')
      .option('--instance <key>', 'the conversation, if several have a dead letter with this id')
      .swarmOptions()
      .examples(`gdn deadletter ${name} mail-17 --bundle my-swarm`)
      .runs(async (options: InstanceOptions, _terminal, id: string) => {
        const [{ reachSwarm }, { findDeadLetter }] = await Promise.all([
          import('../swarm/reach-swarm.ts'),
          import('../swarm/find-dead-letter.ts'),
        ]);
        const { method, field } = orders[name];
        const swarm = await reachSwarm(options);
        const letter = findDeadLetter(id, await swarm.deadLetters(addressIn(options)));
        if (letter === undefined || !(await swarm[method](letter))) {
          throw new GoondanError('E_DEAD_LETTER_UNKNOWN', `There is no dead letter "${id}".`);
        }
        return { json: { [field]: true }, text: await textOf(id) };
      });
  }
}

/** Returns the text for a person, after the order for the letter with this id. */
type TextOf = (id: string) => string | Promise<string>;

async function retriedText(id: string): Promise<string> {
  const { eventIdOf, retryIdOf, shortIdOfEvent } = await import('../short-turn-id.ts');
  return `Accepted again: turn ${shortIdOfEvent(retryIdOf(eventIdOf(id)))}\n`;
}

const orders = {
  retry: { method: 'retryDeadLetter', field: 'retried' },
  drop: { method: 'dropDeadLetter', field: 'dropped' },
} as const;

async function showLetters(options: InstanceOptions, terminal: Terminal): Promise<Result> {
  const [{ placeOfSwarm }, { readDeadLetters }, { shortIdOfEvent }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../swarm/read-dead-letters.ts'),
    import('../short-turn-id.ts'),
  ]);
  const warn = (problem: string) => terminal.printError(`warn: ${harmlessText(problem)}\n`);
  const letters = await readDeadLetters(await placeOfSwarm(options), addressIn(options), warn);
  const shown = letters.map(({ agent, instanceKey, eventId, reason, deadAt, input }) => {
    const start = input === undefined ? '' : `    ${JSON.stringify(input.slice(0, MOST_SHOWN))}\n`;
    const head = `${agent} ${instanceKey} ${shortIdOfEvent(eventId)}  ${showTime(deadAt, terminal)}`;
    return `${harmlessText(head)}\n    ${harmlessText(reason)}\n${start}`;
  });
  if (shown.length === 0) return { json: letters, text: 'There are no dead letters.\n' };
  const how = 'Handle one again with `gdn deadletter retry ID`, or drop it with `gdn deadletter drop`.';
  return { json: letters, text: `${shown.join('')}${terminal.suggest(how)}\n` };
}

const MOST_SHOWN = 200;
