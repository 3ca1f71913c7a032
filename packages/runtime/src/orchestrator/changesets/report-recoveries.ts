import type { ChangesetRecovery } from '../../workspace/changesets/changesets.ts';
import type { LogLevel } from '../../ports/log-line.ts';

const told = {
  committed: 'The bundle has all of its new files.',
  open: 'The bundle has its old files.',
  undone: 'The changeset is undone, and the bundle has its old files.',
} as const;

/** Reports the interrupted commits and undos that were finished. */
export function reportRecoveries(
  recoveries: readonly ChangesetRecovery[],
  report: (level: LogLevel, event: string, message: string) => void,
): void {
  for (const recovery of recoveries) report('warn', 'changeset.recovered', describeRecovery(recovery));
}

/** Describes a recovery in one line. */
function describeRecovery({ record, outcome, leftAlone }: ChangesetRecovery): string {
  const edited = leftAlone.length === 0 ? '' : ` Edited meanwhile, and left as they are: ${leftAlone.join(', ')}.`;
  return `Changeset ${record.id} was interrupted. ${told[outcome]}${edited}`;
}
