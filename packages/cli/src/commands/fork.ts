import type { BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { harmlessLines } from '../harmless-text.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addForkCommand(program: GdnCommand): void {
  program
    .command('fork')
    .argument('<agent>', 'the agent of the conversation')
    .argument('<instance>', 'the key of the conversation, as `gdn instance list` shows it')
    .summary('continue from a moment of a conversation, in a new one')
    .description(
      'Makes a new conversation of the same agent that continues from a moment of this one, with the messages and ' +
        'extension states of that moment. This conversation is not changed. It works with a running swarm and a ' +
        'stopped one. If a file is damaged, the fork uses the intact ones, prints warnings, and exits with 1.',
    )
    .requiredOption('--as <key>', 'the key of the new conversation')
    .option(
      '--at <event>',
      'after the event with this number, or after the turn whose id begins like this (default: the newest moment)',
    )
    .flockOption()
    .swarmOptions()
    .examples('gdn fork my-swarm default --at 2 --as second-try --bundle my-swarm')
    .runs(forkConversation);
}

async function forkConversation(
  options: BundleOptions & { readonly as: string; readonly at?: string; readonly flock: boolean },
  terminal: Terminal,
  agent: string,
  instanceKey: string,
): Promise<ExitCode> {
  const [{ placeOfSwarm }, { withInstance }, { forkInstance }, { readMoment }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../instance/read-instances.ts'),
    import('../instance/fork-instance.ts'),
    import('../history/read-moment.ts'),
  ]);
  const { as, at, json, flock } = options;
  const from = { agentName: agent, instanceKey };
  const place = { ...(await placeOfSwarm(options)), flock };
  // Looks for the conversation first, so that the error for a mistyped name lists the known names.
  await withInstance(place, from, async () => undefined);
  const moment = at === undefined ? {} : { at: readMoment(at) };
  const forked = await withInterrupt((signal) => forkInstance(place, from, { as, ...moment }, signal));
  const { seq, messages, unknownStates, problems = [] } = forked;
  if (json === true) {
    printJson({ forked: true, agent, instanceKey: as, from: instanceKey, ...forked }, terminal);
  } else {
    const count = `${messages} ${messages === 1 ? 'message' : 'messages'}`;
    const after = seq === undefined ? '' : ` after event ${seq}`;
    terminal.print(`Conversation "${as}" of ${agent} is a copy of "${instanceKey}"${after}, with ${count}.\n`);
    const names = unknownStates.join(', ');
    if (names !== '')
      terminal.printError(
        `warn: The archive has no state for these extensions, so they begin without one: ${names}.\n`,
      );
  }
  for (const problem of problems) terminal.printError(`warn: ${harmlessLines(problem)}\n`);
  // A nonzero exit code tells a script that a file was incomplete.
  return problems.length === 0 ? exitCodes.ok : exitCodes.failure;
}
