import { userInfo } from 'node:os';
import { GoondanError } from '@goondan/types';
import type { ChangesetWithDiff } from '../changes/view-changeset.ts';
import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';
import { interrupted } from '../interrupted.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addChangesCommand(program: GdnCommand): void {
  const group = program
    .command('changes')
    .summary('list, show or undo the changes that agents made to a bundle')
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
    .examples('gdn changes undo 1f3a9c2b --bundle my-swarm')
    .readsBundle('use')
    .runs(undo);
}

async function list(options: BundleOptions, terminal: Terminal): Promise<Result> {
  const [{ changesetsOf, listChangesets }, { describeInList }] = await Promise.all([
    import('../changes/read-changesets.ts'),
    import('../changes/describe-changeset.ts'),
  ]);
  const listed = await listChangesets(changesetsOf(options, warnOn(terminal)), options.swarm);
  if (listed.length === 0) return { json: listed, text: 'There are no changesets.\n' };
  const shown = listed.map((changeset) => describeInList(changeset, terminal)).join('');
  const how = 'See the diff of one with `gdn changes show ID`, or take one back with `gdn changes undo ID`.';
  return { json: listed, text: `${shown}${terminal.suggest(how)}\n` };
}

async function show(options: BundleOptions, terminal: Terminal, id: string): Promise<Result> {
  const [{ changesetsOf, findChangeset }, { describeChangeset }] = await Promise.all([
    import('../changes/read-changesets.ts'),
    import('../changes/describe-changeset.ts'),
  ]);
  const found = await findChangeset(changesetsOf(options, warnOn(terminal)), id, options.swarm);
  return { json: found, text: describeChangeset(found, terminal) };
}

async function undo(
  options: BundleOptions & { readonly yes?: boolean; readonly flock: boolean },
  terminal: Terminal,
  typed: string,
): Promise<Result> {
  const [{ changesetsOf, findChangeset }, { undoChangeset }, { describeReload }, { refuseAgents }] = await Promise.all([
    import('../changes/read-changesets.ts'),
    import('../changes/undo-changeset.ts'),
    import('../swarm/describe-reload.ts'),
    import('../approval/refuse-agents.ts'),
  ]);
  refuseAgents('changes undo');
  const { readableStateRoot } = await import('../state-root.ts');
  const changesets = changesetsOf(options, warnOn(terminal));
  const found = await findChangeset(changesets, typed, options.swarm);
  // There is nothing to ask about a changeset in another state: the undo throws.
  if (found.state === 'committed' && options.yes !== true)
    await withInterrupt((signal) => confirm(found, typed, options, terminal, signal));
  const by = userInfo().username;
  const place = { id: found.id, by, stateRoot: readableStateRoot(options) };
  const { record, reloads } = await undoChangeset(changesets, place, terminal);
  const count = record.edits.length === 1 ? 'Its file is' : `Its ${record.edits.length} files are`;
  const reloaded = reloads.map(({ swarm, result }) => `Swarm "${swarm}": ${describeReload(result)}`);
  return {
    json: { undone: true, id: record.id, files: record.edits.map(({ path }) => path), reloads },
    text: `Undone. ${count} as before.\n${reloaded.join('')}`,
  };
}

/** **Errors** — `E_USAGE` when nobody can be asked, `E_CANCELLED` when the answer is not yes. */
async function confirm(
  found: ChangesetWithDiff,
  typed: string,
  options: BundleOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  if (!terminal.canAsk) {
    const { optionsAgain } = await import('../swarm/options-again.ts');
    const suggestion = `Type \`${['gdn changes undo', typed, '--yes', ...optionsAgain(options)].join(' ')}\`.`;
    throw new GoondanError('E_USAGE', `To undo changeset ${found.id}, confirm it.`, { suggestion });
  }
  const [{ askYesOrNo }, { describeDiff }] = await Promise.all([
    import('../ask-yes-or-no.ts'),
    import('../changes/describe-changeset.ts'),
  ]);
  terminal.printError(describeDiff(found, { colors: terminal.errorColors }));
  const question = 'Take this change back?';
  if (await askYesOrNo({ question, unanswered: 'Nothing was changed.', signal }, terminal)) return;
  throw interrupted('Nothing was changed.');
}

function warnOn(terminal: Terminal): (message: string) => void {
  return (message) => terminal.printError(`warn: ${harmlessText(message)}\n`);
}
