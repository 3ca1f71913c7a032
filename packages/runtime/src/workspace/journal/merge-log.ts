/**
 * Merges the two files of a turn's log.
 *
 * The records of one append may be split over both files, and a crash may have kept only one part. Records after the
 * first missing one were never acknowledged and are cut off. If a record is missing before an acknowledged record, the
 * log is damaged.
 */
import type { LoggedRecord } from '../records/logged-record.ts';

/**
 * Merges the records. `after`: the number of the last committed record. Records up to this number belong to earlier
 * turns and are ignored.
 *
 * Returns the records in order, without gaps. `cutFrom` is the number of the first record to cut off. It is absent if
 * no record is cut off.
 */
export function mergeLog(
  events: readonly LoggedRecord[],
  others: readonly LoggedRecord[],
  after: number,
): { readonly log: readonly LoggedRecord[]; readonly cutFrom?: number; readonly damage?: string } {
  const records = [...events, ...others].filter(({ seq }) => seq > after).toSorted((a, b) => a.seq - b.seq);
  const gap = records.findIndex(({ seq }, index) => seq !== after + 1 + index);
  const log = gap === -1 ? records : records.slice(0, gap);
  const strangers = log.filter(({ turnId }) => turnId !== undefined && turnId !== log[0]?.turnId);
  if (strangers.length > 0)
    return { log, damage: `records of turn ${strangers[0]?.turnId} among those of another turn` };
  if (log[0] && log[0].turnId === undefined) return { log, damage: 'its first record names no turn' };
  if (gap === -1) return { log };

  const missing = after + 1 + gap;
  const acknowledged = records.slice(gap).find((record) => record.with > missing || record.seq < missing);
  if (acknowledged) return { log, damage: `record ${missing} is missing, record ${acknowledged.seq} is there` };
  return { log, cutFrom: missing };
}
