/**
 * The names of trace files: `<when>~<trace>~<turn>.jsonl`. A name tells the start time, the trace and the turn, so no
 * file has to be opened to find a turn. Sorted names are in the order of the turns.
 */
import { join } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import { instancesFolder, isAside, pathsIn } from '../layout/instance-paths.ts';
import { pathSegment } from '../layout/path-segment.ts';

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

export interface TraceFile extends NonNullable<ReturnType<typeof readTraceName>> {
  readonly path: string;
}

/** Lists the trace files of a workspace by their names alone, newest first. `workspace`: the folder of the workspace. */
export async function listTraceFiles(fs: Fs, workspace: string): Promise<TraceFile[]> {
  const instances = instancesFolder(workspace);
  const files: TraceFile[] = [];
  for (const instance of (await fs.list(instances)) ?? []) {
    if (isAside(instance)) continue;
    const { traces } = pathsIn(join(instances, instance));
    for (const name of (await fs.list(traces)) ?? []) {
      const named = readTraceName(name);
      if (named !== undefined) files.push({ ...named, path: join(traces, name) });
    }
  }
  return files.toSorted((one, other) => (one.when < other.when ? 1 : -1));
}
