/** The records of the last committed turn. Recovery needs them to complete an unfinished commit. */
import { logRecord, type LoggedRecord } from './logged-record.ts';
import type { CommitRecord, CommittedTurn } from './metadata.ts';

/** Selects the records of the committed turn from the records that are still in the two log files. */
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

/** Returns true if no record of the turn is missing. */
export function isWholeLog({ turn, base }: CommitRecord, log: readonly LoggedRecord[]): boolean {
  return log.length === base.seq - (turn?.after ?? 0) - 1;
}

/** Returns the only record of a reset. No file stores this record, because it can be computed from the commit. */
export function resetLog({ id, after, at }: Pick<CommittedTurn, 'id' | 'after' | 'at'>): readonly LoggedRecord[] {
  const seq = after + 1;
  const record = { type: 'message', event: { type: 'truncate' }, author: { kind: 'runtime' } } as const;
  return [logRecord(record, { seq, with: seq, turnId: id, isFirst: true, at })];
}
