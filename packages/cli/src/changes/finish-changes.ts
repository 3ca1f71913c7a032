// This function has its own file, so that it is imported only for a state root with changesets.
import { type ChangesetRecovery, type ChangesetsPlace, openChangesets } from '@goondan/runtime/internal';
import { harmlessText } from '../harmless-text.ts';

/**
 * Finishes what a killed process left. `waits`: waits a while for a process that is replacing files. `say` gets one line
 * for each changeset. **Errors** — those of `Changesets.recover`; none if the folder does not exist.
 */
export async function finishChanges(
  place: ChangesetsPlace,
  waits: boolean,
  say: (line: string) => void,
): Promise<void> {
  const changesets = openChangesets({ ...place, warn: ({ message }) => say(`warn: ${harmlessText(message)}`) });
  for (const recovery of await changesets.recover(waits ? {} : { waitMs: 0 })) say(describeRecovery(recovery));
}

/** Returns one line. */
export function describeRecovery({ record: { id, agent }, outcome, leftAlone }: ChangesetRecovery): string {
  const changeset = `changeset ${id} of agent ${agent}`;
  const left =
    leftAlone.length === 0 ? '' : ` Left as they are, because somebody edited them: ${leftAlone.join(', ')}.`;
  return harmlessText(`${sayOutcome(changeset, outcome)}${left}`);
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
