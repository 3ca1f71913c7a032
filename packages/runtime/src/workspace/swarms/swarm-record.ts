/**
 * Stores the last swarm of a workspace, and its bundle folder, in `<workspace>/swarm.json`. Commands use it to find a
 * swarm even if the bundle has changed. The runtime never reads it to run a swarm, so a problem with it is only a
 * warning.
 */
import { readFileSync, statSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { type Check, listOf, name, object, optional, text } from '../../ipc/check/shape.ts';
import { systemFs } from '../../ports/fs.ts';
import { swarmRecordPath, workspaceFolder, type JournalLocation, type StorePlace } from '../layout/instance-paths.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { replaceFile } from '../lines/replace-file.ts';

export interface SwarmRecord {
  readonly swarm: string;
  /** The real path of the swarm's bundle. Absent for a swarm that a program started without a bundle. */
  readonly folder?: string;
  /**
   * Swarms that ran in this workspace earlier, newest first. Several bundles share a workspace if they name the same
   * one. The list has at most 15 entries.
   */
  readonly earlier?: readonly Required<Omit<SwarmRecord, 'earlier'>>[];
}

/** Sixteen paths fit into this size, so a longer file is not a record. */
const LONGEST_FILE = 131_072;
const MOST_EARLIER = 15;

/** Writes the record, unless it is unchanged. Only the owner of the workspace may call it. Never rejects. */
export async function recordSwarm(
  { fs = systemFs, warn, ...place }: StorePlace,
  run: Pick<SwarmRecord, 'swarm' | 'folder'>,
): Promise<void> {
  const before = readSwarmRecord(place);
  if (before?.swarm === run.swarm && before.folder === run.folder) return;
  const path = swarmRecordPath(workspaceFolder(place.stateRoot, place.workspaceId));
  const earlier = recordedRuns(before).filter(({ swarm, folder }) => swarm !== run.swarm || folder !== run.folder);
  const line = JSON.stringify({
    ...run,
    ...(earlier.length === 0 ? {} : { earlier: earlier.slice(0, MOST_EARLIER) }),
  });
  try {
    await replaceFile(codedFs(fs), path, new TextEncoder().encode(`${line}\n`));
  } catch (error) {
    warn?.({ path, message: GoondanError.is(error) ? error.message : String(error) });
  }
}

/** Lists every swarm known to have run in the workspace, with its folder; newest first. */
export function recordedRuns(record: SwarmRecord | undefined): readonly Required<Omit<SwarmRecord, 'earlier'>>[] {
  if (record === undefined) return [];
  const { swarm, folder, earlier = [] } = record;
  return folder === undefined ? earlier : [{ swarm, folder }, ...earlier];
}

/** Reads the record. Returns `undefined` when no run is recorded, or the file is not a record. */
export function readSwarmRecord({ stateRoot, workspaceId }: JournalLocation): SwarmRecord | undefined {
  const path = swarmRecordPath(workspaceFolder(stateRoot, workspaceId));
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || stats.size > LONGEST_FILE) return undefined;
    return swarmRecord(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // A damaged file counts as missing: the name of the workspace's folder usually identifies the swarm as well.
    return undefined;
  }
}

const swarmRecord: Check<SwarmRecord> = object({
  swarm: name,
  folder: optional(text),
  earlier: optional(listOf(object({ swarm: name, folder: text }))),
});
