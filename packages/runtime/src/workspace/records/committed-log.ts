/** The records of the turn that was committed last: what a commit that is not yet in place is finished from. */
import { logRecord, type LoggedRecord } from './logged-record.ts';
import type { CommitRecord, CommittedTurn } from './metadata.ts';

/** From the records of both files of the log, as far as they are still there. */
export function committedLog(
  commit: CommitRecord,
  eventRecords: readonly LoggedRecord[],
  turnRecords: readonly LoggedRecord[],
): readonly LoggedRecord[] {
  if (commit.turn?.result === 'reset') return resetLog(commit.turn);
  const after = commit.turn?.after ?? 0;
  return [...eventRecords, ...turnRecords]
    .filter(({ seq }) => seq > after && seq <= commit.base.seq)
    .toSorted((a, b) => a.seq - b.seq);
}

/** Whether none of them is missing. */
export function isWholeLog({ turn, base }: CommitRecord, log: readonly LoggedRecord[]): boolean {
  return log.length === base.seq - (turn?.after ?? 0) - 1;
}

/** The one record of a conversation that is started anew. It is in no file: it follows from the commit. */
export function resetLog({ id, after, at }: Pick<CommittedTurn, 'id' | 'after' | 'at'>): readonly LoggedRecord[] {
  const seq = after + 1;
  const record = { type: 'message', event: { type: 'truncate' }, author: { kind: 'runtime' } } as const;
  return [logRecord(record, { seq, with: seq, turnId: id, isFirst: true, at })];
}
