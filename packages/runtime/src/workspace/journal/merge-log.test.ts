import { expect, test } from 'bun:test';
import type { LoggedRecord } from '../records/logged-record.ts';
import { mergeLog } from './merge-log.ts';

const record = (seq: number, together = seq, turnId: string | undefined = 't'): LoggedRecord => ({
  seq,
  turnId,
  with: together,
  record: { type: 'resumed' },
  text: '',
});
const seqs = (log: readonly LoggedRecord[]) => log.map(({ seq }) => seq);

test('merges the records of both files in the order of their numbers, without those of committed turns', () => {
  const { log, cutFrom, damage } = mergeLog([record(1), record(4), record(6)], [record(2), record(5), record(7)], 3);
  expect([seqs(log), cutFrom, damage]).toEqual([[4, 5, 6, 7], undefined, undefined]);
});

test('cuts the records that were appended together with a missing one', () => {
  const { log, cutFrom, damage } = mergeLog([record(1)], [record(3, 2), record(4, 2)], 0);
  expect([seqs(log), cutFrom, damage]).toEqual([[1], 2, undefined]);
});

test('a missing record before later ones is damage', () => {
  expect(mergeLog([record(1)], [record(3)], 0).damage).toBe('record 2 is missing, record 3 is there');
  expect(mergeLog([record(1)], [record(3, 2), record(4, 4)], 0).damage).toContain('record 4 is there');
  expect(mergeLog([record(1)], [record(1)], 0).damage).toBeDefined();
});

test('a log has the records of one turn, and names it', () => {
  expect(mergeLog([record(1), record(2, 2, 'other')], [], 0).damage).toContain('other');
  const nameless: LoggedRecord = { ...record(1), turnId: undefined };
  expect(mergeLog([], [nameless], 0).damage).toContain('names no turn');
});
