/**
 * A conversation that is started anew is a commit like that of a turn: the base is rewritten to nothing, the extensions
 * have no state, and the archive gains a `truncate` by the runtime. Its one record is in no log but follows from the commit
 * record, so that nothing is written among the records of a turn that was interrupted before the commit says that those
 * do not count any more.
 */
import { resetLog } from '../records/committed-log.ts';
import { logStart, type InstanceMetadata } from '../records/metadata.ts';
import { planCommit, type CommitPlan } from './plan-commit.ts';

/** `openRecords`: how many records the log of an interrupted turn has. Its event is still to be handled. */
export function planReset(
  before: InstanceMetadata,
  extensions: ReadonlyMap<string, string>,
  openRecords: number,
  now: Date,
): CommitPlan {
  const after = logStart(before.commit) + openRecords;
  const id = `reset-${before.commit.version + 1}`;
  const log = resetLog({ id, after, at: now.getTime() });
  const delta = { type: 'rewrite', messages: [] } as const;
  const reset = { turnId: id, log, delta, extensionState: {}, result: 'reset', entry: undefined } as const;
  return planCommit({ ...before, commit: { ...before.commit, discarded: after } }, extensions, reset, now);
}
