/** How far an instance is with its input, as its own log says. */
import type { StoredInstance } from '../layout/instance-paths.ts';
import type { LogState } from '../records/log-state.ts';
import { readState } from '../records/read-log.ts';

export interface InputProgress {
  /** The number of the last handled event; 0 when there is none. */
  readonly handled: number;
  /** The number of the last event whose turn has begun. Its line was durable in the inbox log before. */
  readonly begun: number;
}

/** **Errors** — `E_STORE_CORRUPT`, and those of reading. */
export async function readProgress(stored: StoredInstance): Promise<InputProgress> {
  const state = (await readState(stored))?.state;
  return state ? progressOf(state) : { handled: 0, begun: 0 };
}

export function progressOf({ inbox, open }: Pick<LogState, 'inbox' | 'open'>): InputProgress {
  return { handled: inbox, begun: Math.max(inbox, open.input ?? 0) };
}
