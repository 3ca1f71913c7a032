/**
 * Drops a turn from the copy of a log, as the owner does when it opens another turn. The bytes of the log stay as they are:
 * commits without a turn may lie behind the records of the turn.
 */
import { encodeFrame, type SegmentHead } from '../records/frame.ts';
import type { ReadLog } from '../records/read-log.ts';

const ROOM = new Uint8Array(1);

/** Adds a frame that drops the turn. `bytes`: the current segment of the log. `at`: the time of the frame. */
export function dropOpenTurn(
  bytes: Uint8Array,
  { metadata, state, current }: ReadLog,
  turnId: string,
  at: number,
): Uint8Array {
  const { agentName, instanceKey, createdAt } = metadata;
  const head: SegmentHead = { agentName, instanceKey, createdAt };
  const end = current.read?.end ?? 0;
  const frame = { seq: state.seq + 1, durable: state.seq, at, commit: { drops: turnId } };
  // The first frame of a segment has a head. A crash may have left a segment without frames.
  const dropped = encodeFrame(end === 0 ? { ...frame, head } : frame);
  return Buffer.concat([bytes.subarray(0, end), dropped, ROOM]);
}
