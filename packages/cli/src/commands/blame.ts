import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';

export function addBlameCommand(program: GdnCommand): void {
  program
    .command('blame')
    .argument('[agent]', 'the agent of the conversation (default: that of the only conversation)')
    .argument('[instance]', 'the key of the conversation, as `gdn instance list` shows it (default: the only one)')
    .summary('show where each message of a conversation comes from')
    .description(
      'Shows where each message of a conversation comes from: a person, another agent, a model, a tool or an ' +
        'extension. For each message, it also shows the turn, step, time and event, and the earlier messages that this message replaced.',
    )
    .option(
      '--at <event>',
      'show an earlier moment: after the event with this number, or after the turn whose id begins like this',
    )
    .option('--show-replaced', 'also print messages that were replaced')
    .swarmOptions()
    .examples('gdn blame my-swarm default --show-replaced --bundle my-swarm')
    .runs(showBlame);
}

async function showBlame(
  options: BundleOptions & { readonly at?: string; readonly showReplaced?: boolean },
  terminal: Terminal,
  agentName?: string,
  instanceKey?: string,
): Promise<Result> {
  const [{ placeOfSwarm }, { chooseInstance }, { withInstance }, { blame }, { readMoment }, { renderBlame }] =
    await Promise.all([
      import('../swarm/reach-swarm.ts'),
      import('../instance/choose-instance.ts'),
      import('../instance/read-instances.ts'),
      import('@goondan/runtime/history'),
      import('../history/read-moment.ts'),
      import('../history/render-blame.ts'),
    ]);
  const { at, showReplaced = false } = options;
  const question = {
    ...(at === undefined ? {} : { at: readMoment(at) }),
    ...(showReplaced ? { replaced: MOST_REPLACED } : {}),
  };
  const place = await placeOfSwarm(options);
  const address = await chooseInstance(place, { agentName, instanceKey }, question.at);
  const blamed = await withInstance(place, address, ({ history }) => blame(history, address, question));
  const shown = renderBlame(blamed, terminal) || 'There are no messages.\n';
  return { json: { agent: address.agentName, instanceKey: address.instanceKey, ...blamed }, text: shown };
}

/**
 * The maximum number of replaced messages that are shown for each message. If there are more, the output says how many.
 */
const MOST_REPLACED = 100;
