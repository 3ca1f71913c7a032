import type { AgentAddress } from '@goondan/types';
import { type BundleOptions, numberUpTo } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { printJson } from '../print-json.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import type { Terminal } from '../terminal.ts';

type HistoryOptions = BundleOptions & { readonly at?: string; readonly limit?: number; readonly before?: number };

export function addHistoryCommand(program: GdnCommand): void {
  const command = program
    .command('history')
    .argument('[agent]', 'the agent of the conversation (default: that of the only conversation)')
    .argument('[instance]', 'the key of the conversation, as `gdn instance list` shows it (default: the only one)')
    .summary('list the events of a conversation, or show it at a moment')
    .description(
      'Lists the turns of a conversation and every event that changed it: its number, time, author and change. ' +
        'With --at it prints the conversation after that event. The swarm does not have to run.',
    )
    .option(
      '--at <event>',
      'the conversation after the event with this number, or after the turn whose id begins like this; 0 is empty',
    )
    .option('--limit <number>', 'the number of events (default: 50)', numberUpTo(1000))
    .option('--before <number>', 'only events before this one', numberUpTo(Number.MAX_SAFE_INTEGER))
    .swarmOptions()
    .examples('gdn history --bundle my-swarm', 'gdn history my-swarm default --at 2 --bundle my-swarm')
    .runs(async (options: HistoryOptions, terminal, agentName?: string, instanceKey?: string) => {
      const pages = options.limit !== undefined || options.before !== undefined;
      if (options.at !== undefined && pages) command.error("option '--at' cannot be used with '--limit' or '--before'");
      const show = options.at === undefined ? showPage : showMoment;
      const [{ placeOfSwarm }, { chooseInstance }, { readMoment }] = await Promise.all([
        import('../swarm/reach-swarm.ts'),
        import('../instance/choose-instance.ts'),
        import('../history/read-moment.ts'),
      ]);
      const moment = options.at === undefined ? undefined : readMoment(options.at);
      const at = await chooseInstance(await placeOfSwarm(options), { agentName, instanceKey }, moment);
      return show(at, options, terminal);
    });
}

async function showPage(at: AgentAddress, options: HistoryOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { optionsAgain }, { withInstance }, { readHistory }, { renderHistory }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../swarm/options-again.ts'),
    import('../instance/read-instances.ts'),
    import('@goondan/runtime/history'),
    import('../history/render-history.ts'),
  ]);
  const { limit = DEFAULT_LIMIT, before, json } = options;
  const question = { limit, ...(before === undefined ? {} : { before }) };
  const page = await withInstance(await placeOfSwarm(options), at, ({ history }) => readHistory(history, at, question));
  const { agentName: agent, instanceKey } = at;
  if (json === true) return printJson({ agent, instanceKey, ...page }, terminal);
  if (page.last === 0) return terminal.print('Nothing has happened in this conversation yet.\n');
  if (page.turns.length === 0) return terminal.print(`There are no events before ${before ?? page.first}.\n`);
  terminal.print(renderHistory(page, terminal));
  const shownFrom = page.turns.flatMap(({ events }) => events)[0]?.seq ?? page.first;
  if (shownFrom <= page.first) return;
  const earlier = [
    `gdn history ${quoteForShell(agent)} ${quoteForShell(instanceKey)} --before ${shownFrom}`,
    ...(options.limit === undefined ? [] : [`--limit ${limit}`]),
    ...optionsAgain(options),
  ];
  terminal.printError(`There are earlier events: \`${earlier.join(' ')}\`.\n`);
}

async function showMoment(at: AgentAddress, options: HistoryOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { withInstance }, { readConversationAt }, { readMoment }, { printMessages }, { tellTaken }] =
    await Promise.all([
      import('../swarm/reach-swarm.ts'),
      import('../instance/read-instances.ts'),
      import('@goondan/runtime/history'),
      import('../history/read-moment.ts'),
      import('../instance/print-messages.ts'),
      import('../tell-taken.ts'),
    ]);
  const moment = readMoment(options.at ?? '');
  const { seq, messages, extensionState, unknownStates, takenBy } = await withInstance(
    await placeOfSwarm(options),
    at,
    ({ history }) => readConversationAt(history, at, moment),
  );
  const { agentName: agent, instanceKey } = at;
  if (options.json !== true) {
    if (takenBy !== undefined) tellTaken(String(moment), takenBy, terminal);
    return printMessages(messages, terminal);
  }
  const unknown = unknownStates.length === 0 ? {} : { unknownStates };
  printJson(
    {
      agent,
      instanceKey,
      seq,
      messages,
      extensions: extensionState,
      ...unknown,
      ...(takenBy !== undefined && { takenBy }),
    },
    terminal,
  );
}

const DEFAULT_LIMIT = 50;
