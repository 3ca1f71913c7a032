/** Lists the trace files of a workspace by their names alone. */
import { join } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import { instancesFolder, isAside, pathsIn } from '../layout/instance-paths.ts';
import { readTraceName } from './trace-names.ts';

export interface TraceFile extends NonNullable<ReturnType<typeof readTraceName>> {
  readonly path: string;
}

/** Lists the files, newest first. `workspace`: the folder of the workspace. */
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
