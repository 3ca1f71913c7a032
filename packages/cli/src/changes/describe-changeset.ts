/** Changesets as text for people. */
import { harmlessText } from '../harmless-text.ts';
import { shorten } from '../shorten.ts';
import { showDiff } from '../show-diff.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';
import type { ChangesetView, ChangesetWithDiff } from './view-changeset.ts';

type Shown = Pick<Terminal, 'colors' | 'isWatched'>;

/** Returns the lines of `gdn changes list` about one changeset. */
export function describeInList(changeset: ChangesetView, terminal: Shown): string {
  const { id, state, agent, instanceKey, files, notes } = changeset;
  const [event, at] = latestEvent(changeset);
  const head = `${terminal.colors.bold(harmlessText(id))}  ${event ?? state} ${showTime(at, terminal)}`;
  const who = [`${agent} (${instanceKey})`, ...peopleOf(changeset)].join(', ');
  const lines = [describeFiles(files), ...lastNote(notes)];
  return [`${head}  ${harmlessText(who)}`, ...lines.map((line) => `    ${harmlessText(line)}`), ''].join('\n');
}

/** Returns the text of `gdn changes show`: the story of a changeset, its notes, and its whole diff. */
export function describeChangeset(changeset: ChangesetWithDiff, terminal: Shown): string {
  const { id, state, swarm, agent, instanceKey, openedAt, expiresAt, baseRef, newRef, notes } = changeset;
  const time = (at: string) => showTime(at, terminal);
  const { committedAt, undoneAt, undoneBy } = changeset;
  const lines = [
    `swarm ${swarm}, agent ${agent} (${instanceKey})`,
    `opened ${time(openedAt)}${expiresAt === undefined ? '' : `, expires ${time(expiresAt)}`}`,
    ...(committedAt === undefined ? [] : [`committed ${time(committedAt)}, ${approvalOf(changeset)}`]),
    ...(undoneAt === undefined ? [] : [`undone ${time(undoneAt)}${undoneBy === undefined ? '' : ` by ${undoneBy}`}`]),
    ...(baseRef === undefined || newRef === undefined ? [] : [`from ${baseRef} to ${newRef}`]),
    ...notes.map((note) => `note: ${note}`),
  ];
  const head = `${terminal.colors.bold(harmlessText(id))}  ${state}`;
  return `${[head, ...lines.map(harmlessText)].join('\n')}\n\n${describeDiff(changeset, terminal)}`;
}

/** Returns the differences of all files. */
export function describeDiff({ files }: ChangesetWithDiff, { colors }: Pick<Terminal, 'colors'>): string {
  return files.map(({ diff }) => showDiff(diff, colors)).join('') || 'It changes no files.\n';
}

/** Returns the last thing that happened to a changeset, if that is more than its opening, and the time. */
function latestEvent({ openedAt, committedAt, undoneAt }: ChangesetView): [event: string | undefined, at: string] {
  if (undoneAt !== undefined) return ['undone', undoneAt];
  return committedAt === undefined ? [undefined, openedAt] : ['committed', committedAt];
}

function peopleOf(changeset: ChangesetView): string[] {
  const { committedAt, undoneAt, undoneBy } = changeset;
  return [
    ...(committedAt === undefined ? [] : [approvalOf(changeset)]),
    ...(undoneAt === undefined || undoneBy === undefined ? [] : [`undone by ${undoneBy}`]),
  ];
}

function approvalOf({ approvedBy, approvedVia }: ChangesetView): string {
  if (approvedBy === undefined) return 'nobody was asked';
  return `approved by ${approvedBy}${approvedVia === undefined ? '' : ` via ${approvedVia}`}`;
}

/** The maximum length of a note in the list. `gdn changes show` prints all notes in full. */
const LONGEST_NOTE = 160;

/** Returns the last note, short. */
function lastNote(notes: readonly string[]): string[] {
  const last = notes.at(-1);
  if (last === undefined) return [];
  const earlier = notes.length === 1 ? '' : ` (and ${notes.length - 1} earlier)`;
  return [`note: ${shorten(last, LONGEST_NOTE)}${earlier}`];
}

function describeFiles(files: ChangesetView['files']): string {
  return files.map(({ path, change }) => `${change} ${path}`).join(', ') || 'no files yet';
}
