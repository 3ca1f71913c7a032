import { type AgentAddress, GoondanError } from '@goondan/types';
import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { interrupted } from '../interrupted.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addInstanceDeleteCommand(group: GdnCommand): void {
  group
    .command('delete')
    .argument('<agent>', 'the agent of the conversation')
    .argument('<instance>', 'the key of the conversation, as `gdn instance list` shows it')
    .summary('delete a conversation for good')
    .description(
      'Deletes a conversation for good, with its history, extension states, dead letters and scratch folder. A running swarm ' +
        'deletes the conversation between turns. The command asks first; without a terminal it needs ' +
        '--yes. The next input begins a new conversation. To keep the history, use `gdn restart --fresh`.',
    )
    .option('--yes', 'do not ask')
    .option('--force', 'delete even if there are accepted inputs, which are then lost, or damaged files')
    .flockOption()
    .bundleOptions()
    .examples('gdn instance delete assistant default --bundle my-swarm')
    .runs(deleteConversation);
}

async function deleteConversation(
  options: BundleOptions & { readonly yes?: boolean; readonly force?: boolean; readonly flock: boolean },
  terminal: Terminal,
  agent: string,
  instanceKey: string,
): Promise<Result> {
  const [{ placeOfSwarm }, { describeInstance, listParts }, { deleteInstance }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../instance/describe-instance.ts'),
    import('../instance/delete-instance.ts'),
  ]);
  const { force = false, yes = false, flock } = options;
  const place = { ...(await placeOfSwarm(options)), flock };
  const at = { agentName: agent, instanceKey };
  const { inputs } = await withInterrupt(async (signal) => {
    const parts = listParts(await describeInstance(place, at, force));
    if (!yes) await confirm(at, { ...options, parts }, terminal, signal);
    return deleteInstance(place, at, force, signal);
  });
  const lost =
    inputs === undefined || inputs === 0 ? '' : `, and ${inputs} accepted ${inputs === 1 ? 'input' : 'inputs'} with it`;
  const json = { deleted: true, agent, instanceKey, ...(inputs === undefined ? {} : { inputs }) };
  return { json, text: `Deleted conversation "${instanceKey}" of ${agent}${lost}.\n` };
}

/** **Errors** — `E_USAGE` when nobody can be asked, `E_CANCELLED` when the answer is not yes. */
async function confirm(
  { agentName, instanceKey }: AgentAddress,
  { parts, ...options }: BundleOptions & { readonly parts: string },
  terminal: Terminal,
  signal: AbortSignal,
) {
  const what = `conversation "${instanceKey}" of ${agentName} (${parts})`;
  if (!terminal.canAsk) {
    const { optionsAgain } = await import('../swarm/options-again.ts');
    const words = ['gdn instance delete', quoteForShell(agentName), quoteForShell(instanceKey), '--yes'];
    const suggestion = `Type \`${[...words, ...optionsAgain(options)].join(' ')}\`.`;
    throw new GoondanError('E_USAGE', `To delete ${what} for good, confirm it.`, { suggestion });
  }
  const { askYesOrNo } = await import('../ask-yes-or-no.ts');
  const question = `Delete ${what} for good, with its history and its scratch folder?`;
  if (await askYesOrNo({ question, unanswered: 'Nothing was deleted.', signal }, terminal)) return;
  throw interrupted('Nothing was deleted.');
}
