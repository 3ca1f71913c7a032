import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
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
        'deletes the conversation between turns. The command asks first; without a terminal it needs --yes. The next input begins a new conversation. To keep the history, use `gdn restart --fresh --agent NAME --instance KEY`.',
    )
    .option('--yes', 'do not ask')
    .option('--force', 'delete even if there are accepted inputs, which are then lost, or damaged files')
    .flockOption()
    .swarmOptions()
    .examples('gdn instance delete my-swarm default --bundle my-swarm')
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
    if (!yes) {
      const { confirm } = await import('../confirm.ts');
      const what = `conversation "${instanceKey}" of ${agent} (${parts}) for good`;
      const question = `Delete ${what}, with its history and its scratch folder?`;
      const typed = ['gdn instance delete', quoteForShell(agent), quoteForShell(instanceKey)];
      const otherwise = 'Nothing was deleted.';
      await confirm({ purpose: `delete ${what}`, question, otherwise, typed }, options, terminal, signal);
    }
    return deleteInstance(place, at, force, signal);
  });
  const lost =
    inputs === undefined || inputs === 0 ? '' : `, and ${inputs} accepted ${inputs === 1 ? 'input' : 'inputs'} with it`;
  const json = { deleted: true, agent, instanceKey, ...(inputs === undefined ? {} : { inputs }) };
  return { json, text: `Deleted conversation "${instanceKey}" of ${agent}${lost}.\n` };
}
