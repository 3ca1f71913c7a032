// This function has its own file, so that it is imported only for a state root with changesets.
import { type ChangesetsPlace, describeRecovery, openChangesets } from '@goondan/runtime/internal';
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
  for (const recovery of await changesets.recover(waits ? {} : { waitMs: 0 }))
    say(harmlessText(describeRecovery(recovery)));
}
