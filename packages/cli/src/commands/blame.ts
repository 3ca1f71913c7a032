import type { Command } from 'commander';
import type { AgentAddress } from '@goondan/types';
import { addBundleOptions, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

interface BlameOptions extends BundleOptions {
  readonly at?: string;
  readonly showReplaced?: boolean;
}

export function addBlameCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('blame')
    .argument('<agent>', 'whose conversation')
    .argument('<instance>', 'the key of the conversation, as `gdn instance list` shows it')
    .summary('show where each message of a conversation comes from')
    .description(
      'Shows where each message of a conversation comes from: a person, another agent, a model, a tool or an ' +
        'extension. For each message, it also shows the turn, step, time and event, and the earlier messages that this message replaced.',
    )
    .option(
      '--at <event>',
      'show an earlier moment: after the event with this number, or after the turn whose id begins like this',
    )
    .option('--show-replaced', 'also print messages that were replaced');
  addBundleOptions(command)
    .addHelpText('after', '\nExample:\n  $ gdn blame assistant default --show-replaced --bundle my-swarm')
    .action(async (agentName: string, instanceKey: string, options: BlameOptions) => {
      await showBlame({ agentName, instanceKey }, options, terminal);
      finish(exitCodes.ok);
    });
}

async function showBlame(address: AgentAddress, options: BlameOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { withInstance }, { blame }, { readMoment }, { renderBlame }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../instance/read-instances.ts'),
    import('@goondan/runtime/history'),
    import('../history/read-moment.ts'),
    import('../history/render-blame.ts'),
  ]);
  const { at, showReplaced = false, json } = options;
  const question = {
    ...(at === undefined ? {} : { at: readMoment(at) }),
    ...(showReplaced ? { replaced: MOST_REPLACED } : {}),
  };
  const place = await placeOfSwarm(options);
  const blamed = await withInstance(place, address, (journal) => blame(journal, address, question));
  const { agentName: agent, instanceKey } = address;
  if (json === true) return printJson({ agent, instanceKey, ...blamed }, terminal);
  if (blamed.messages.length === 0) return terminal.print('There are no messages.\n');
  const { colors, columns = WITHOUT_TERMINAL } = terminal;
  terminal.print(renderBlame(blamed, { colors, columns }));
}

/** The maximum number of replaced messages that are shown for each message; the rest are counted. */
const MOST_REPLACED = 100;
const WITHOUT_TERMINAL = 160;
