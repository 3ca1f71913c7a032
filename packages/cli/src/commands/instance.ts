import type { Command } from 'commander';
import { addBundleOptions, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printMessages } from '../instance/print-messages.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { addInstanceDeleteCommand } from './instance-delete.ts';
import { addInstanceExportCommand } from './instance-export.ts';

export function addInstanceCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const group = program
    .command('instance')
    .summary('list, print, export or delete conversations')
    .description('These commands read conversations from disk. The swarm does not have to run.')
    .addHelpText('after', '\nExample:\n  $ gdn instance list --bundle my-swarm');

  const list = group
    .command('list')
    .summary('list conversations')
    .description('Lists the conversations of every agent.');
  addBundleOptions(list)
    .addHelpText('after', '\nExample:\n  $ gdn instance list --bundle my-swarm --json')
    .action(async (options: BundleOptions) => {
      await showList(options, terminal);
      finish(exitCodes.ok);
    });

  const show = group
    .command('show')
    .argument('<agent>', 'whose conversation')
    .argument('<instance>', 'the key of the conversation, as `gdn instance list` shows it')
    .summary('print a conversation')
    .description('Prints the messages of one conversation; with --json also the states of its extensions.');
  addBundleOptions(show)
    .addHelpText('after', '\nExample:\n  $ gdn instance show assistant default --bundle my-swarm')
    .action(async (agent: string, instanceKey: string, options: BundleOptions) => {
      await showInstance(agent, instanceKey, options, terminal);
      finish(exitCodes.ok);
    });

  addInstanceExportCommand(group, terminal, finish);
  addInstanceDeleteCommand(group, terminal, finish);
}

async function showList(options: BundleOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { listInstances }] = await imports();
  const instances = await listInstances(await placeOfSwarm(options));
  if (options.json === true) return printJson(instances, terminal);
  if (instances.length === 0) return terminal.print('There are no conversations yet.\n');
  for (const { agent, instanceKey, status, messages, updatedAt, problem } of instances) {
    const contents = messages === null ? [] : [`${messages} messages`, updatedAt ?? 'no turn yet'];
    const parts = [status, ...contents, ...(problem === undefined ? [] : [problem])];
    terminal.print(`${agent} ${instanceKey}: ${parts.join(', ')}\n`);
  }
}

async function showInstance(agent: string, instanceKey: string, options: BundleOptions, terminal: Terminal) {
  const [{ placeOfSwarm }, { readInstance }] = await imports();
  const at = { agentName: agent, instanceKey };
  const { messages, extensionState: extensions } = await readInstance(await placeOfSwarm(options), at);
  if (options.json === true) return printJson({ agent, instanceKey, messages, extensions }, terminal);
  printMessages(messages, terminal);
}

function imports() {
  return Promise.all([import('../swarm/reach-swarm.ts'), import('../instance/read-instances.ts')]);
}
