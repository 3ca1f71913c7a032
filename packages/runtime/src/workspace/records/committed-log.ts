/** The records of the last committed turn, from which an unfinished commit is completed. */
import { logRecord, type LoggedRecord } from './logged-record.ts';
import type { CommitRecord, CommittedTurn } from './metadata.ts';

/** Selects them from the records of both log files that are still there. */
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

/** Tells whether no record is missing. */
export function isWholeLog({ turn, base }: CommitRecord, log: readonly LoggedRecord[]): boolean {
  return log.length === base.seq - (turn?.after ?? 0) - 1;
}

/** Returns the one record of a reset. It is in no file: it follows from the commit. */
export function resetLog({ id, after, at }: Pick<CommittedTurn, 'id' | 'after' | 'at'>): readonly LoggedRecord[] {
  const seq = after + 1;
  const record = { type: 'message', event: { type: 'truncate' }, author: { kind: 'runtime' } } as const;
  return [logRecord(record, { seq, with: seq, turnId: id, isFirst: true, at })];
}
