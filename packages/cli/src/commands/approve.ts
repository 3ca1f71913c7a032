import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { GoondanError } from '@goondan/types';
import { addBundleOptions, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

interface AnswerOptions extends BundleOptions {
  readonly note?: string;
  readonly reason?: string;
}

/** `gdn approve` and `gdn deny`. */
export function addApproveCommands(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const approve = program
    .command('approve')
    .argument('[id]', 'which call, as the list shows it; without it the list is printed')
    .summary('see which tool calls wait for you, and let one go on')
    .description(
      'Lets a tool call go on that an agent of a running swarm asks about: this one call, once, with the arguments that ' +
        'are shown. Without an id it lists the calls that wait. They are kept when the swarm stops: start it again, and ' +
        'they are here.',
    )
    .option('--note <text>', 'something for the record');
  const deny = program
    .command('deny')
    .argument('[id]', 'which call, as `gdn approve` shows it; without it the list is printed')
    .summary('refuse a tool call that waits for you')
    .description('Refuses a tool call that an agent of a running swarm asks about. The agent is told so, and goes on.')
    .option('--reason <text>', 'why not, for the agent to read');
  addBundleOptions(approve)
    .addHelpText('after', '\nExamples:\n  $ gdn approve --bundle my-swarm\n  $ gdn approve 3fa9c1d2 --bundle my-swarm')
    .action(async (id: string | undefined, options: AnswerOptions) => {
      await act('approve', id, options, terminal);
      finish(exitCodes.ok);
    });
  addBundleOptions(deny)
    .addHelpText('after', '\nExample:\n  $ gdn deny 3fa9c1d2 --reason "Not on a Friday." --bundle my-swarm')
    .action(async (id: string | undefined, options: AnswerOptions) => {
      await act('deny', id, options, terminal);
      finish(exitCodes.ok);
    });
}

async function act(what: 'approve' | 'deny', id: string | undefined, options: AnswerOptions, terminal: Terminal) {
  if (id === undefined) return list(options, terminal);
  const [{ reachSwarm }, { isBelowSwarm }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../runtime-readers.ts'),
  ]);
  if (isBelowSwarm()) {
    throw new GoondanError(
      'E_APPROVAL_BELOW_AGENT',
      `\`gdn ${what}\` was started by an agent. Only a person may answer.`,
    );
  }
  const swarm = await reachSwarm(options);
  const note = options.note ?? options.reason;
  const answered = await swarm[what](id, { by: userInfo().username, ...(note === undefined ? {} : { note }) });
  if (!answered) throw new GoondanError('E_APPROVAL_UNKNOWN', `No tool call waits under the id "${id}".`);
  if (options.json === true) return printJson(what === 'approve' ? { approved: true } : { denied: true }, terminal);
  terminal.print(what === 'approve' ? 'Approved.\n' : 'Denied.\n');
}

async function list(options: AnswerOptions, terminal: Terminal): Promise<void> {
  const [{ reachSwarm }, { describeApproval }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../approval/describe-approval.ts'),
  ]);
  const approvals = await (await reachSwarm(options)).approvals();
  if (options.json === true) return printJson(approvals, terminal);
  if (approvals.length === 0) return terminal.print('Nothing waits for you.\n');
  for (const approval of approvals) terminal.print(describeApproval(approval, terminal.colors));
}
