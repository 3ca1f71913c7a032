/**
 * The starts of a node, in its local folder. Each start has a random id, which the store keeps while the node lives.
 *
 * Invariants:
 * 1. The caller holds the lock of the folder, so the process of every start in the list has ended.
 * 2. A copy of the folder proves nothing: the original may have a living process. The list counts only for the same folder,
 *    on the same disk, since the same boot.
 * 3. A start is in the list before the store hears of it, and stays there until a later start has joined.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootId } from '../../ports/processes.ts';

export interface NodeStart {
  /** The id of this start. */
  readonly start: string;
  /** The ids of earlier starts, whose processes have ended. */
  readonly ended: readonly string[];
  /** Forgets the earlier starts. Call it when the store knows this one. */
  readonly joined: () => void;
}

/** The most starts in the list. They grow only while the store refuses the node or is away. */
const MOST_STARTS = 16;

/** Adds a start to the list. */
export function noteStart(folder: string, readBoot = bootId): NodeStart {
  const path = join(folder, 'node-starts');
  const place = placeOf(folder, readBoot());
  const start = crypto.randomUUID();
  const ended = place === undefined ? [] : readStarts(path, place);
  const write = (starts: readonly string[]) => {
    if (place !== undefined) writeFileSync(path, [place, ...starts, ''].join('\n'), { mode: 0o600 });
  };
  write([...ended, start]);
  return { start, ended, joined: () => write([start]) };
}

/** Returns a text that no copy of the folder has; `undefined` where the boot has no id. */
function placeOf(folder: string, boot: string | undefined): string | undefined {
  const { dev, ino } = statSync(folder, { bigint: true });
  return boot === undefined ? undefined : `${boot} ${dev}:${ino}`;
}

function readStarts(path: string, place: string): readonly string[] {
  try {
    const [written, ...starts] = readFileSync(path, 'utf8').split('\n');
    return written === place ? starts.filter((start) => /^[0-9a-f-]{36}$/.test(start)).slice(1 - MOST_STARTS) : [];
  } catch {
    // The node starts here for the first time.
    return [];
  }
}
