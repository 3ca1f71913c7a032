/**
 * Plans a reset, which is a commit like that of a turn: the base becomes empty, extensions lose their state, and the
 * archive gets a `truncate` by the runtime. The record of the `truncate` is not written to the log but computed from
 * the commit record. So the log of an interrupted turn stays unchanged until the commit makes that log void.
 */
import { resetLog } from '../records/committed-log.ts';
import { logStart, type InstanceMetadata } from '../records/metadata.ts';
import { planCommit, type CommitPlan } from './plan-commit.ts';

/**
 * Plans the reset. `openRecords`: the number of records in the log of an interrupted turn, whose event stays pending.
 */
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
