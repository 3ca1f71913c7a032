import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';
import { describeInputs } from '../instance/describe-inputs.ts';
import { printJson } from '../print-json.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';
import { addInstanceDeleteCommand } from './instance-delete.ts';
import { addInstanceExportCommand } from './instance-export.ts';

export function addInstanceCommand(program: GdnCommand): void {
  const group = program
    .command('instance')
    .summary('list, print, export or delete conversations')
    .description('These commands read conversations from disk. The swarm does not have to run.')
    .examples('gdn instance list --bundle my-swarm');

  group
    .command('list')
    .summary('list conversations')
    .description('Lists the conversations of every agent.')
    .swarmOptions()
    .examples('gdn instance list --bundle my-swarm --json')
    .runs(showList);

  group
    .command('show')
    .argument('[agent]', 'the agent of the conversation (default: that of the only conversation)')
    .argument('[instance]', 'the key of the conversation, as `gdn instance list` shows it (default: the only one)')
    .summary('print a conversation')
    .description('Prints the messages of one conversation; with --json also the states of its extensions.')
    .swarmOptions()
    .examples('gdn instance show my-swarm default --bundle my-swarm')
    .runs(showInstance);

  addInstanceExportCommand(group);
  addInstanceDeleteCommand(group);
}

async function showList(options: BundleOptions, terminal: Terminal): Promise<Result> {
  const [{ placeOfSwarm }, { listInstances }] = await imports();
  const instances = await listInstances(await placeOfSwarm(options));
  const shown = instances.map(({ agent, instanceKey, status, messages, updatedAt, inputs = 0, problem }) => {
    const waiting = inputs === 0 ? [] : [describeInputs(inputs)];
    const contents =
      messages === null
        ? []
        : [
            `${messages} ${messages === 1 ? 'message' : 'messages'}`,
            updatedAt === null ? 'no turn yet' : showTime(updatedAt, terminal),
            ...waiting,
          ];
    const parts = [status, ...contents, ...(problem === undefined ? [] : [problem])];
    return `${harmlessText(`${agent} ${instanceKey}: ${parts.join(', ')}`)}\n`;
  });
  return { json: instances, text: shown.join('') || 'There are no conversations yet.\n' };
}

async function showInstance(options: BundleOptions, terminal: Terminal, agentName?: string, key?: string) {
  const [[{ placeOfSwarm }, { readInstance }], { chooseInstance }, { printMessages }] = await Promise.all([
    imports(),
    import('../instance/choose-instance.ts'),
    import('../instance/print-messages.ts'),
  ]);
  const place = await placeOfSwarm(options);
  const at = await chooseInstance(place, { agentName, instanceKey: key });
  const { agentName: agent, instanceKey } = at;
  const { messages, extensionState: extensions } = await readInstance(place, at);
  if (options.json === true) return printJson({ agent, instanceKey, messages, extensions }, terminal);
  printMessages(messages, terminal);
}

function imports() {
  return Promise.all([import('../swarm/reach-swarm.ts'), import('../instance/read-instances.ts')]);
}
