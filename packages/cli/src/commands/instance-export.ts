import type { BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { harmlessLines } from '../harmless-text.ts';
import type { ExportCounts } from '../instance/export-instance.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

type ExportOptions = BundleOptions & { readonly output?: string; readonly force?: boolean; readonly history?: boolean };

export function addInstanceExportCommand(group: GdnCommand): void {
  const command = group
    .command('export')
    .argument('<agent>', 'the agent of the conversation')
    .argument('<instance>', 'the key of the conversation, as `gdn instance list` shows it')
    .summary('write a conversation as JSON')
    .description(
      'Prints a whole conversation as JSON: messages, extension states, waiting inputs and dead letters. With ' +
        '--history it adds every turn that is still kept. The swarm does not have to run. A damaged part is left out or ' +
        'taken from the history; then a warning is printed and the exit code is 1.',
    )
    .option('--output <file>', 'write to a file that only you can read')
    .option('--force', 'replace the file if it exists')
    .option('--history', 'include every turn: its changes, their authors, and how it ended')
    .swarmOptions()
    .examples('gdn instance export my-swarm default --bundle my-swarm --output my-swarm.json')
    .runs((options: ExportOptions, terminal, agentName: string, instanceKey: string) => {
      if (options.force === true && options.output === undefined) {
        command.error("option '--force' needs option '--output'");
      }
      return exportConversation({ agentName, instanceKey }, options, terminal);
    });
}

async function exportConversation(
  at: { readonly agentName: string; readonly instanceKey: string },
  options: ExportOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const [{ placeOfSwarm }, { withInstance }, { exportInstance, exportSource }, { gathered, writePrivateFile }] =
    await Promise.all([
      import('../swarm/reach-swarm.ts'),
      import('../instance/read-instances.ts'),
      import('../instance/export-instance.ts'),
      import('../instance/write-private-file.ts'),
    ]);
  const { output, force = false, history = false, json } = options;
  const counts: ExportCounts = { messages: 0, turns: 0 };
  await withInstance(await placeOfSwarm(options), at, async (store) => {
    const pieces = exportInstance(exportSource(store), { at, history, exportedAt: new Date() }, counts);
    if (output !== undefined) {
      return withInterrupt((signal) => writePrivateFile(output, pieces, { replace: force, signal }));
    }
    for await (const text of gathered(pieces)) await terminal.write(text);
  });
  for (const problem of counts.problems ?? []) terminal.printError(`warn: ${harmlessLines(problem)}\n`);
  if (output !== undefined) {
    const turns = history ? ` and ${count(counts.turns, 'turn')}` : '';
    if (json === true) printJson({ file: output, messages: counts.messages, turns: counts.turns }, terminal);
    else terminal.print(`Wrote ${count(counts.messages, 'message')}${turns} to ${output}.\n`);
  }
  // A nonzero exit code tells a script that the conversation is incomplete.
  return counts.problems === undefined ? exitCodes.ok : exitCodes.failure;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
