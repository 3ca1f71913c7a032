/** How far an instance is with its input, as its own log says. */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { type HandledNumbers, type LogState, NOTHING_HANDLED } from '../records/log-state.ts';
import { readState } from '../records/read-log.ts';

export interface InputProgress extends HandledNumbers {
  /**
   * The number of the last event whose turn has begun, or that the interrupted turn has taken. Its line was durable in
   * the inbox log before. Events that committed turns have taken do not count, because their lines may have left the log.
   */
  readonly begun: number;
}

export const NO_PROGRESS: InputProgress = { ...NOTHING_HANDLED, begun: 0 };

/** **Errors** — `E_STORE_CORRUPT`, and those of reading. */
export async function readProgress(stored: StoredInstance): Promise<InputProgress> {
  const state = (await readState(stored))?.state;
  return state ? progressOf(state) : NO_PROGRESS;
}

export function progressOf({ inbox, taken, open }: Pick<LogState, 'inbox' | 'taken' | 'open'>): InputProgress {
  return { handled: inbox, taken, begun: Math.max(inbox, open.input ?? 0, open.lastTaken) };
}
