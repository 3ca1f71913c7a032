import type { AgentAddress } from '@goondan/types';
import { archivedTurn, type ArchivedTurn } from '../../workspace/archive/read-archive.ts';
import { GatheredTurn } from '../../workspace/records/gather-turns.ts';
import { corruptLine } from './name-instance.ts';
import { decodeLines } from './read-stored-log.ts';

/**
 * Yields the turns of lines that come in pieces, oldest first. A turn may span pieces. A turn that is not committed is not
 * included.
 *
 * **Errors** — `E_STORE_CORRUPT` at the first damaged or missing line, after all turns before it were yielded.
 */
export async function* readArchivedTurns(
  instance: AgentAddress,
  pieces: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): AsyncGenerator<ArchivedTurn> {
  const gathered = new GatheredTurn();
  let last: string | undefined;
  for await (const lines of pieces) {
    // The last line of the piece before proves that no line is missing between the pieces.
    let isKnown = last !== undefined;
    for (const frame of decodeLines(instance, last === undefined ? lines : [last, ...lines])) {
      if (isKnown) {
        isKnown = false;
        continue;
      }
      const committed = gathered.add(frame);
      if (!committed) continue;
      const turn = archivedTurn(committed);
      if (!turn) throw corruptLine(instance, `records are missing before number ${frame.seq}`);
      yield turn;
    }
    last = lines.at(-1) ?? last;
  }
}
