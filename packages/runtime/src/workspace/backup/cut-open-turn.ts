/** Removes a turn that was not committed from the bytes of a log. */
import { decodeFrame } from '../records/frame.ts';

const NEWLINE = 0x0a;
const ROOM = new Uint8Array(1);

/** Returns the bytes up to the last commit, or up to the first frame if there is no commit, with room behind them. */
export function cutOpenTurn(bytes: Uint8Array): Uint8Array {
  let end = 0;
  for (let start = 0; start < bytes.length;) {
    const stop = bytes.indexOf(NEWLINE, start);
    const frame = stop === -1 ? undefined : decodeFrame(bytes.subarray(start, stop));
    if (!frame) break;
    start = stop + 1;
    if (frame.commit || frame.head) end = start;
  }
  return Buffer.concat([bytes.subarray(0, end), ROOM]);
}
