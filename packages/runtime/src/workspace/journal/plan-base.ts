/** Decides how to bring `base.jsonl` to the contents that the commit record describes. Changes nothing. */
import { checksum } from '../lines/checksum.ts';
import { encodeMessage, reviveMessage } from '../../messages/message-text.ts';
import type { LoggedRecord } from '../records/logged-record.ts';
import { type CommitRecord, type CommittedTurn, matches } from '../records/metadata.ts';

export type BasePlan =
  | { readonly type: 'done' }
  /** Cut the file off at `from` and append `bytes`. */
  | { readonly type: 'append'; readonly from: number; readonly bytes: Uint8Array }
  /** Rename `base.jsonl.next` to `base.jsonl`. */
  | { readonly type: 'rename' }
  | { readonly type: 'damaged'; readonly problem: string };

/**
 * Plans the change. `next`: the bytes of `base.jsonl.next`. `log`: the records of the committed turn that are still in
 * the log files.
 */
export function planBase(
  base: Uint8Array,
  next: Uint8Array | undefined,
  commit: CommitRecord,
  log: readonly LoggedRecord[],
): BasePlan {
  if (matches(base, commit.base)) return { type: 'done' };
  const { turn, previous } = commit;
  if (!turn) return { type: 'damaged', problem: 'nothing was committed yet, but it is not empty' };
  if (turn.base === 'rewrite') {
    if (next && matches(next, commit.base)) return { type: 'rename' };
    return { type: 'damaged', problem: 'neither it nor base.jsonl.next matches the last commit' };
  }
  const before = base.subarray(0, previous.bytes);
  if (base.length > commit.base.bytes || !matches(before, previous)) {
    return { type: 'damaged', problem: 'it matches neither the last commit nor the commit before' };
  }
  const bytes = redoAppend(turn.base, log);
  if (!bytes || checksum(bytes, previous.crc) !== commit.base.crc) {
    return { type: 'damaged', problem: 'it ends before the last commit, and the events to rebuild it are missing' };
  }
  return { type: 'append', from: previous.bytes, bytes };
}

function redoAppend(
  parts: Exclude<CommittedTurn['base'], 'rewrite'>,
  log: readonly LoggedRecord[],
): Uint8Array | undefined {
  const lines: string[] = [];
  for (const part of parts) {
    const text = typeof part === 'number' ? textOf(log, part) : encodeMessage(reviveMessage(part));
    if (text === undefined) return undefined;
    lines.push(`${text}\n`);
  }
  return Buffer.from(lines.join(''));
}

function textOf(log: readonly LoggedRecord[], wanted: number): string | undefined {
  return log.find(({ seq }) => seq === wanted)?.message?.text;
}
