/** Frees the space of files that a workspace keeps only as a way back to an older version. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { codedFs } from '../../ports/coded-fs.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { readFormat, refuseKept } from '../../workspace/format-1/format-file.ts';
import { isKeptChanged, removeKept } from '../../workspace/format-1/kept-files.ts';
import { KEPT_IN_USE, keptInstance } from '../../workspace/journal/erase-kept.ts';
import { instanceFolderName, type StorePlace } from '../../workspace/layout/instance-paths.ts';
import { keptWorkspace } from '../../workspace/layout/kept-workspace.ts';
import { isKeptInUse } from '../../workspace/lock/is-kept-in-use.ts';

export interface CompactedStore {
  /** The size of the removed files. */
  readonly bytes: number;
}

/** Refuses a state root that is itself the copy of a migration. **Errors** — `E_STORE_FORMAT`. */
export async function refuseKeptFiles({ fs = systemFs, ...location }: StorePlace): Promise<void> {
  await refuseKept({ fs: codedFs(fs) }, location);
}

/** Returns true if a finished migration has kept files. Without a finished one they are still needed. */
export async function hasKeptFiles({ fs = systemFs, ...location }: StorePlace): Promise<boolean> {
  const disk = { fs: codedFs(fs) };
  return (
    (await readFormat(disk, location)) !== undefined && (await disk.fs.stat(keptWorkspace(location))) !== undefined
  );
}

/**
 * Removes the files of format 1 that a finished migration has kept. Only while no migration can run: the caller owns the
 * workspace, or the swarm that owns it has started.
 *
 * **Errors** — `E_LOCKED` when an older version runs on the kept files, `E_STORE_FORMAT` when it has worked on them since
 * the migration; those of the disk.
 */
export async function compactFiles(place: StorePlace): Promise<CompactedStore> {
  await refuseKeptFiles(place);
  if (!(await hasKeptFiles(place))) return { bytes: 0 };
  const ports = { fs: codedFs(place.fs ?? systemFs), processes: place.processes ?? systemProcesses };
  if (await isKeptInUse(ports, place)) {
    const message = `An older version runs on ${keptWorkspace(place)}`;
    throw new GoondanError('E_LOCKED', message, { suggestion: 'Stop the swarm of the older version first.' });
  }
  const format = await readFormat(ports, place);
  if (format && (await isKeptChanged(place, format.migratedAt))) throw changedKept(place);
  return { bytes: await removeKept(ports, place) };
}

/**
 * Describes the old files of a deleted instance, which stay while an older version runs on them. Returns `undefined` when
 * there are none.
 */
export async function describeKeptInstance(
  { fs = systemFs, ...location }: StorePlace,
  { agentName, instanceKey }: AgentAddress,
): Promise<string | undefined> {
  const path = keptInstance(location, instanceFolderName(agentName, instanceKey));
  return (await codedFs(fs).stat(path)) && `${path}: ${KEPT_IN_USE}`;
}

function changedKept(place: StorePlace): GoondanError {
  const kept = keptWorkspace(place);
  return new GoondanError('E_STORE_FORMAT', `An older version has made turns in ${kept} since the migration`, {
    suggestion: 'These turns are nowhere else. If you do not need them, remove this folder yourself.',
  });
}
