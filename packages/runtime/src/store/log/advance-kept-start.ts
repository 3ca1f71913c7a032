/** Moves the start of a history that is kept elsewhere past the oldest lines, as `workspace/history` does for files. */
import type { AgentAddress } from '@goondan/types';
import { decodeStart, emptyStart, encodeStart } from '../../workspace/history/history-start.ts';
import { HistoryFold } from '../../workspace/history/history-fold.ts';
import { corruptLine } from './name-instance.ts';
import { readArchivedTurns } from './read-archived-turns.ts';

/**
 * Folds the turns of the oldest lines into the start, and returns the text of the new start. `start`: the text of the
 * old one. The caller must keep the lines if this rejects, because nothing else has their changes.
 *
 * **Errors** — `E_STORE_CORRUPT`.
 */
export async function advanceKeptStart(
  instance: AgentAddress,
  start: string | undefined,
  lines: readonly string[],
): Promise<string> {
  const before = start === undefined ? emptyStart : decodeStart(Buffer.from(start));
  if (typeof before === 'string') throw corruptLine(instance, `the start of its history is damaged: ${before}`);
  const fold = new HistoryFold(before);
  for await (const turn of readArchivedTurns(instance, [lines])) {
    if (turn.version > fold.version + 1) throw corruptLine(instance, `commit ${fold.version + 1} is missing`);
    if (turn.version > fold.version) fold.apply(turn);
  }
  return Buffer.from(encodeStart(fold.toStart())).toString();
}
