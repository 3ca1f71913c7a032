/**
 * The names of recorded turns: `<when>~<trace>~<turn>`. A name tells the start time, the trace and the turn, so no trace
 * has to be read to find a turn. Sorted names are in the order of the turns.
 */
import type { Fs } from '../../ports/fs.ts';
import { tracesFolder } from '../layout/instance-paths.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { listNumbers, numberedPath } from '../lines/shared-log.ts';
import { blockTag, lineStart } from './trace-blocks.ts';
import { readBlocks, TRACES } from './trace-index.ts';
import type { TracePiece } from './read-trace-file.ts';

export function traceName({
  turnId,
  traceId,
  startedAt,
}: {
  readonly turnId: string;
  readonly traceId: string;
  readonly startedAt: Date;
}): string {
  return `${whenOf(startedAt)}~${pathSegment(traceId)}~${pathSegment(turnId)}`;
}

/** Returns the digits of a time, from the year to the millisecond. */
export function whenOf(time: Date): string {
  const text = time.toISOString();
  // Only a year above 9999 makes the text longer.
  if (text.length !== '2026-01-01T00:00:00.000Z'.length) return text.replaceAll(/\D/g, '');
  const day = text.slice(0, 4) + text.slice(5, 7) + text.slice(8, 10);
  return day + text.slice(11, 13) + text.slice(14, 16) + text.slice(17, 19) + text.slice(20, 23);
}

/**
 * Reads the parts of a name. Returns `undefined` if it is not the name of a turn. `when`: the start time as digits.
 * `trace` and `turn`: their ids as path segments, which may differ from the ids themselves.
 */
export function readTraceName(name: string) {
  const [, when, trace, turn] = /^(\d{17,20})~([a-z0-9_-]+)~([a-z0-9_-]+)$/.exec(name) ?? [];
  if (when === undefined || trace === undefined || turn === undefined) return undefined;
  return { when, trace, turn };
}

/** The trace of one turn, and where its lines are. */
export interface KeptTrace extends NonNullable<ReturnType<typeof readTraceName>> {
  /** In the order of writing. */
  readonly pieces: readonly TracePiece[];
}

/**
 * Lists the traces of a workspace, newest first, from the indexes of its files. `workspace`: the folder of the workspace.
 * `isWanted`: chooses instances by the names of their folders.
 */
export async function listTraces(
  fs: Fs,
  workspace: string,
  isWanted: (instance: string) => boolean = () => true,
): Promise<KeptTrace[]> {
  const turns = new Map<string, KeptTrace & { readonly pieces: TracePiece[] }>();
  /** The names of all runs of a turn differ only in their times. The first run has the name of the turn. */
  const add = (instance: string, name: string, piece: TracePiece) => {
    const key = `${instance}${name.slice(name.indexOf('~'))}`;
    const known = turns.get(key);
    if (known !== undefined) return void known.pieces.push(piece);
    const named = readTraceName(name);
    if (named !== undefined) turns.set(key, { ...named, pieces: [piece] });
  };
  const folder = tracesFolder(workspace);
  for (const number of await listNumbers(fs, folder, TRACES)) {
    const path = numberedPath(folder, TRACES, number);
    for (const { turn, instance, from, to } of await readBlocks(fs, folder, number)) {
      if (isWanted(instance)) add(instance, turn, { path, from, to, lineStart: lineStart(blockTag(turn, instance)) });
    }
  }
  return [...turns.values()].toSorted((one, other) => (one.when < other.when ? 1 : -1));
}
