import type { ChangesetRecovery } from '../../workspace/changesets/changesets.ts';
import { describeRecovery } from '../../workspace/changesets/describe-recovery.ts';
import type { LogLevel } from '../../ports/log-line.ts';

/** Reports the interrupted commits and undos that were finished. */
export function reportRecoveries(
  recoveries: readonly ChangesetRecovery[],
  report: (level: LogLevel, event: string, message: string) => void,
): void {
  for (const recovery of recoveries) report('warn', 'changeset.recovered', describeRecovery(recovery));
}
