import { checkInput } from '../check-input.ts';
import { collectPaths } from '../collect-paths.ts';
import { addressIn, bundleFolder, type InstanceOptions } from '../common-options.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addSendCommand(program: GdnCommand): void {
  program
    .command('send')
    .summary('send an input to a running swarm')
    .description(
      'Sends an input to an agent of a running swarm. The command returns as soon as the input is on disk; from then on ' +
        'the input will be handled, even after a crash. With --wait it prints the answer, as `gdn run` does, and Ctrl-C ' +
        'cancels the turn. With --now the input is for the turn that runs now: the model sees it before its next step. If ' +
        'no turn runs, or the turn ends first, the input has a turn of its own.',
    )
    .requiredOption('--input <text>', 'the input; - reads standard input', checkInput)
    .option('--schema <file>', 'demand an answer that fits this JSON Schema (JSON or YAML)')
    .option('--file <path>', 'an image or a file to send along; can be repeated', collectPaths)
    .option('--agent <name>', 'the agent (default: the entry agent)')
    .option('--instance <key>', 'the conversation of that agent (default: "default")')
    .option('--id <id>', 'an id for the input; inputs with the same id are handled only once')
    .option('--now', 'for the running turn, before its next step')
    .option('--wait', 'wait for the answer')
    .swarmOptions()
    .examples(
      'gdn send --bundle my-swarm --agent my-swarm --input "Good morning" --wait',
      'gdn send --bundle my-swarm --input "Which city is the largest?" --schema city.schema.json --wait',
      'gdn send --input "Compare these." --file one.png --file two.png --wait',
      'gdn send --bundle my-swarm --agent my-swarm --input "Only the tests, please" --now',
    )
    .runs(send);
}

async function send(
  options: InstanceOptions & {
    readonly input: string;
    readonly schema?: string;
    readonly file?: readonly string[];
    readonly id?: string;
    readonly now?: boolean;
    readonly wait?: boolean;
  },
  terminal: Terminal,
): Promise<Result | ExitCode> {
  const [{ reachSwarm }, { warnImported }, { readDemanded }, { readInput }, { readFiles }, { callerTrace }] =
    await Promise.all([
      import('../swarm/reach-swarm.ts'),
      import('../cluster/imported-note.ts'),
      import('../read-demanded.ts'),
      import('../read-input.ts'),
      import('../read-files.ts'),
      import('../caller-trace.ts'),
    ]);
  const { id, file = [], json = false, now = false, wait = false } = options;
  const demanded = await readDemanded(options.schema);
  const swarm = await reachSwarm(options, undefined, (place) => warnImported(place, terminal));
  const delivery = {
    input: await readInput(options.input, terminal),
    ...(file.length > 0 && { content: await readFiles(file) }),
    ...addressIn(options),
    ...(id === undefined ? {} : { id }),
    ...demanded,
    ...(now && { now }),
    ...callerTrace(process.env),
  };
  if (wait) {
    const [{ askOnce }, { withDesk }, { optionsElsewhere }, { readableStateRoot }, { tellingIdleNodes }] =
      await Promise.all([
        import('../run/ask-once.ts'),
        import('../question/with-desk.ts'),
        import('../swarm/options-elsewhere.ts'),
        import('../state-root.ts'),
        import('../cluster/tell-idle-nodes.ts'),
      ]);
    const [folder, stateRoot] = [bundleFolder(undefined, options), readableStateRoot(options)];
    const desk = { swarm, options: optionsElsewhere({ ...options, folder, stateRoot }) };
    return withInterrupt((signal, holdQuit, takeInterrupt) =>
      withDesk({ ...desk, takeInterrupt }, terminal, (asking, onAccepted) =>
        tellingIdleNodes(options, terminal, () =>
          askOnce(swarm, { delivery, json, signal, holdQuit, onAccepted, isAsking: () => asking.isAsking }, terminal),
        ),
      ),
    );
  }
  const acceptance = await swarm.deliver({ client: 'gdn', ...delivery });
  const { accepted, eventId, duplicate, agent: to, instanceKey, turnId, traceId } = acceptance;
  const { shortTurnId } = await import('../short-turn-id.ts');
  const where = `${now ? 'for its running turn, or as ' : ''}turn ${shortTurnId(turnId)}`;
  const text = `${duplicate ? 'Already accepted' : 'Accepted'} by ${to} (${instanceKey}): ${where}\n`;
  return { json: { accepted, eventId, agent: to, instanceKey, duplicate, turnId, traceId }, text };
}
