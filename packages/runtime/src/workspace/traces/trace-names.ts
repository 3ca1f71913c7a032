/**
 * The names of recorded turns: `<when>~<trace>~<turn>.jsonl`. A name tells the start time, the trace and the turn, so no
 * trace has to be read to find a turn. Sorted names are in the order of the turns. The index of a segment has the names
 * without their ending; versions before segments had a file with this name for each turn.
 */
import { join } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import { instancesFolder, isAside, pathsIn } from '../layout/instance-paths.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { readSegmentIndex, segmentNumber, type TracePiece } from './trace-segment.ts';

export function traceName({
  turnId,
  traceId,
  startedAt,
}: {
  readonly turnId: string;
  readonly traceId: string;
  readonly startedAt: Date;
}): string {
  const when = startedAt.toISOString().replaceAll(/\D/g, '');
  return `${when}~${pathSegment(traceId)}~${pathSegment(turnId)}.jsonl`;
}

/**
 * Reads the parts of a file name. Returns `undefined` if it is not the name of a trace file. `when`: the start time as
 * digits, from the year to the millisecond. `trace` and `turn`: their ids as path segments, which may differ from the
 * ids themselves.
 */
export function readTraceName(name: string) {
  const [, when, trace, turn] = /^(\d{17,20})~([a-z0-9_-]+)~([a-z0-9_-]+)\.jsonl$/.exec(name) ?? [];
  if (when === undefined || trace === undefined || turn === undefined) return undefined;
  return { when, trace, turn };
}

/** The trace of one turn, and where its lines are. */
export interface KeptTrace extends NonNullable<ReturnType<typeof readTraceName>> {
  /** In the order of writing. */
  readonly pieces: readonly TracePiece[];
}

/**
 * Lists the traces of a workspace, newest first, from the indexes of segments and the names of older files. `workspace`:
 * the folder of the workspace. `isWanted`: chooses instances by the names of their folders.
 */
export async function listTraces(
  fs: Fs,
  workspace: string,
  isWanted: (instance: string) => boolean = () => true,
): Promise<KeptTrace[]> {
  const instances = instancesFolder(workspace);
  const traces: KeptTrace[] = [];
  for (const instance of (await fs.list(instances)) ?? []) {
    if (isAside(instance) || !isWanted(instance)) continue;
    traces.push(...(await listOfInstance(fs, pathsIn(join(instances, instance)).traces)));
  }
  return traces.toSorted((one, other) => (one.when < other.when ? 1 : -1));
}

async function listOfInstance(fs: Fs, folder: string): Promise<KeptTrace[]> {
  const turns = new Map<string, TracePiece[]>();
  const add = (name: string, piece: TracePiece) => turns.set(name, [...(turns.get(name) ?? []), piece]);
  for (const file of ((await fs.list(folder)) ?? []).toSorted()) {
    const path = join(folder, file);
    if (readTraceName(file) !== undefined) add(file.slice(0, -6), { path, from: 0, to: Number.POSITIVE_INFINITY });
    if (segmentNumber(file) === undefined) continue;
    const index = await readSegmentIndex(fs, path);
    for (const { name, n, from, to } of index?.turns ?? []) add(name, { path, from, to, n });
  }
  return [...turns].flatMap(([name, pieces]) => {
    const named = readTraceName(`${name}.jsonl`);
    return named === undefined ? [] : { ...named, pieces };
  });
}
