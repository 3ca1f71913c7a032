import type { Changesets } from '@goondan/runtime/internal';
import type { ChangesetView, ChangesetWithDiff } from '../changes/view-changeset.ts';
import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addChangesCommand(program: GdnCommand): void {
  const group = program
    .command('changes')
    .summary('list, show, undo or discard the changes of agents to a bundle')
    .description(
      'An agent can change the bundle of its own swarm with a changeset, within `policy.changes` of the swarm. These ' +
        'commands read changesets from disk. The swarm does not have to run, and its goondan.yaml may be invalid.',
    )
    .examples('gdn changes list --bundle my-swarm');

  group
    .command('list')
    .summary('list changesets')
    .description('Lists the changesets of a bundle, newest first: the state, the agent, who approved it, the files.')
    .bundleOptions()
    .examples('gdn changes list --bundle my-swarm')
    .readsBundle('look')
    .runs(list);

  group
    .command('show')
    .argument('<id>', 'the id of the changeset, or its beginning, as `gdn changes list` shows it')
    .summary('print a changeset with its diff')
    .description('Prints the history of a changeset, its notes and its whole diff.')
    .bundleOptions()
    .examples('gdn changes show 1f3a9c2b --bundle my-swarm')
    .readsBundle('look')
    .runs(show);

  group
    .command('undo')
    .argument('<id>', 'the id of the changeset, or its beginning, as `gdn changes list` shows it')
    .summary('restore the files from before a changeset')
    .description(
      'Restores the files from before a committed changeset, and reloads the swarm if it runs. Prints the diff that is ' +
        'taken back and asks first; without a terminal it needs --yes. If a file was edited since, or the swarm refuses ' +
        'the reload, nothing changes.',
    )
    .option('--yes', 'do not ask')
    .flockOption()
    .bundleOptions()
    .filesOnly('Take the change back in the files of the bundle, and give them to all nodes with `gdn deploy`.')
    .examples('gdn changes undo 1f3a9c2b --bundle my-swarm')
    .readsBundle('use')
    .runs(undo);

  group
    .command('discard')
    .argument('<id>', 'the id of the changeset, or its beginning, as `gdn changes list` shows it')
    .summary('delete an open changeset')
    .description(
      'Deletes a changeset that is not committed, with the files that an agent wrote into it. The bundle does not change. ' +
        'Prints the diff and asks first; without a terminal it needs --yes.',
    )
    .option('--yes', 'do not ask')
    .flockOption()
    .bundleOptions()
    .examples('gdn changes discard 1f3a9c2b --bundle my-swarm')
    .readsBundle('use')
    .runs(discard);
}

async function list(options: BundleOptions, terminal: Terminal): Promise<Result> {
  noteNode(terminal);
  const [{ changesetsOf, listChangesets, refuseUnknown }, { describeInList }] = await Promise.all([
    import('../changes/read-changesets.ts'),
    import('../changes/describe-changeset.ts'),
  ]);
  const listed = await listChangesets(changesetsOf(options, warnOn(terminal)), options.swarm);
  if (listed.length === 0) {
    await refuseUnknown(options);
    return { json: listed, text: 'There are no changesets.\n' };
  }
  const shown = listed.map((changeset) => describeInList(changeset, terminal)).join('');
  const has = (wanted: ChangesetView['state']) => listed.some(({ state }) => state === wanted);
  const how = [
    'See the diff of one with `gdn changes show ID`.',
    ...(has('committed') ? ['Take a committed one back with `gdn changes undo ID`.'] : []),
    ...(has('open') ? ['Delete an open one with `gdn changes discard ID`.'] : []),
  ];
  return { json: listed, text: `${shown}${terminal.suggest(how.join(' '))}\n` };
}

async function show(options: BundleOptions, terminal: Terminal, id: string): Promise<Result> {
  noteNode(terminal);
  const [{ changesetsOf }, { describeChangeset }] = await Promise.all([
    import('../changes/read-changesets.ts'),
    import('../changes/describe-changeset.ts'),
  ]);
  const found = await find(changesetsOf(options, warnOn(terminal)), id, options);
  return { json: found, text: describeChangeset(found, terminal) };
}

type ChangeOptions = BundleOptions & { readonly yes?: boolean; readonly flock: boolean };

async function undo(options: ChangeOptions, terminal: Terminal, typed: string): Promise<Result> {
  const [{ changesetsOf }, { undoChangeset }, { describeReload }, { refuseAgents }, { personName }] = await Promise.all(
    [
      import('../changes/read-changesets.ts'),
      import('../changes/undo-changeset.ts'),
      import('../swarm/describe-reload.ts'),
      import('../question/refuse-agents.ts'),
      import('../question/person-name.ts'),
    ],
  );
  refuseAgents('changes undo');
  const { readableStateRoot } = await import('../state-root.ts');
  const changesets = changesetsOf(options, warnOn(terminal));
  const found = await find(changesets, typed, options);
  // There is nothing to ask about a changeset in another state: the undo throws.
  if (found.state === 'committed') {
    const question = { command: 'undo', verb: 'undo', question: 'Take this change back?', typed };
    await withInterrupt((signal) => confirmChange(found, question, options, terminal, signal));
  }
  const place = { id: found.id, by: personName(), stateRoot: readableStateRoot(options) };
  const { record, reloads } = await undoChangeset(changesets, place, terminal);
  const count = record.edits.length === 1 ? 'Its file is' : `Its ${record.edits.length} files are`;
  const reloaded = reloads.map(({ swarm, result }) => `Swarm "${swarm}": ${describeReload(result)}`);
  return {
    json: { undone: true, id: record.id, files: record.edits.map(({ path }) => path), reloads },
    text: `Undone. ${count} as before.\n${reloaded.join('')}`,
  };
}

async function discard(options: ChangeOptions, terminal: Terminal, typed: string): Promise<Result> {
  const [{ changesetsOf }, { refuseAgents }] = await Promise.all([
    import('../changes/read-changesets.ts'),
    import('../question/refuse-agents.ts'),
  ]);
  refuseAgents('changes discard');
  noteNode(terminal);
  const changesets = changesetsOf(options, warnOn(terminal));
  const found = await find(changesets, typed, options);
  if (found.state === 'open') {
    const question = { command: 'discard', verb: 'delete', question: 'Delete this changeset?', typed };
    await withInterrupt((signal) => confirmChange(found, question, options, terminal, signal));
  }
  const { id } = await changesets.discard(found.id);
  return { json: { discarded: true, id }, text: 'Deleted. The bundle is as before.\n' };
}

/** **Errors** — those of `findChangeset` and `refuseUnknown`. */
async function find(changesets: Changesets, typed: string, options: BundleOptions): Promise<ChangesetWithDiff> {
  const { findChangeset, listChangesets, refuseUnknown } = await import('../changes/read-changesets.ts');
  try {
    return await findChangeset(changesets, typed, options.swarm);
  } catch (error) {
    if ((await listChangesets(changesets, options.swarm)).length === 0) await refuseUnknown(options);
    throw error;
  }
}

interface Question {
  readonly command: string;
  readonly verb: string;
  readonly question: string;
  /** The id as the person typed it. */
  readonly typed: string;
}

/** Prints the diff and asks, unless `--yes` is given. **Errors** — those of `confirm`. */
async function confirmChange(
  found: ChangesetWithDiff,
  { command, verb, question, typed }: Question,
  options: ChangeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const [{ confirm }, { describeDiff }] = await Promise.all([
    import('../confirm.ts'),
    import('../changes/describe-changeset.ts'),
  ]);
  const printDiff = () => terminal.printError(describeDiff(found, { colors: terminal.errorColors }));
  if (options.yes === true) return printDiff();
  const purpose = `${verb} changeset ${found.id}`;
  const words = [`gdn changes ${command}`, typed];
  await confirm(
    { purpose, question, otherwise: 'Nothing was changed.', typed: words, show: printDiff },
    options,
    terminal,
    signal,
  );
}

/** The changesets of a node are in its own state root, also if its conversations are in a database. */
function noteNode({ printError }: Terminal): void {
  if (process.env['GOONDAN_STORE']) printError('note: These are the changesets of the nodes on this machine only.\n');
}

function warnOn(terminal: Terminal): (message: string) => void {
  return (message) => terminal.printError(`warn: ${harmlessText(message)}\n`);
}
