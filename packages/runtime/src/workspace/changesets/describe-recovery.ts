import type { ChangesetRecovery } from './changesets.ts';

/** Describes a recovery in one line. */
export function describeRecovery({ record: { id, agent }, outcome, leftAlone }: ChangesetRecovery): string {
  const changeset = `changeset ${id} of agent ${agent}`;
  const left =
    leftAlone.length === 0 ? '' : ` Left as they are, because somebody edited them: ${leftAlone.join(', ')}.`;
  return `${sayOutcome(changeset, outcome)}${left}`;
}

function sayOutcome(changeset: string, outcome: ChangesetRecovery['outcome']): string {
  switch (outcome) {
    case 'committed':
      return `Finished an interrupted change: ${changeset} is committed, and the bundle has its new files.`;
    case 'open':
      return `Took back an interrupted change: ${changeset} is not committed, and the bundle has its old files.`;
    case 'undone':
      return `Finished an interrupted undo: ${changeset} is undone, and the bundle has its old files. A running swarm needs \`gdn reload\`.`;
  }
}
