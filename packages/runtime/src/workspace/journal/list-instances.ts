import type { AgentAddress } from '@goondan/types';
import { instanceFolderName, isAside, pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { readSettled } from '../lines/read-settled.ts';
import type { StorePorts } from '../store-ports.ts';
import type { InstanceIndex } from '../records/instance-index.ts';
import { readFirstMetadata, readMetadata } from '../records/read-metadata.ts';

/**
 * Lists the instances that have a folder, in no particular order. Leaves out a folder whose instance cannot be
 * determined, with a warning. If the index knows the instance of a folder, its files are not read.
 */
export async function listInstances(
  ports: StorePorts,
  folder: string,
  index: InstanceIndex = new Map(),
): Promise<AgentAddress[]> {
  const found: AgentAddress[] = [];
  for (const name of (await ports.fs.list(folder)) ?? []) {
    if (isAside(name)) continue;
    const place = { ...ports, paths: pathsIn(`${folder}/${name}`) };
    const entry = index.get(name);
    if (entry && (await ports.fs.stat(place.paths.events))) {
      found.push({ agentName: entry.agentName, instanceKey: entry.instanceKey });
      continue;
    }
    try {
      const address = (await readAddress(place)) ?? (await addressOfName(place, name));
      if (address) found.push(address);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      ports.warn({ path: place.paths.folder, message: `cannot tell whose folder this is: ${reason}` });
    }
  }
  return found;
}

/** Reads the address of an instance from its files. Returns `undefined` when they are damaged, or do not exist yet. */
async function readAddress(place: Parameters<typeof readMetadata>[0]): Promise<AgentAddress | undefined> {
  try {
    const found = await readSettled(place, async (settled) => {
      return (await readMetadata(settled)) ?? (await readFirstMetadata(settled))?.metadata;
    });
    return found && { agentName: found.agentName, instanceKey: found.instanceKey };
  } catch (error) {
    if (isCorrupt(error)) return undefined;
    throw error;
  }
}

/**
 * Reads the address from the name of the folder, unless the name is shortened to a hash. Returns `undefined` for a
 * folder without files, which belongs to no instance yet.
 */
async function addressOfName(
  { fs, paths: { metadata, messages } }: Pick<StoredInstance, 'fs' | 'paths'>,
  name: string,
): Promise<AgentAddress | undefined> {
  const stats = await Promise.all([metadata, messages].map((path) => fs.stat(path)));
  if (stats.every((stat) => stat === undefined)) return undefined;
  const [agentName = '', instanceKey = ''] = name.split('~');
  return instanceFolderName(agentName, instanceKey) === name ? { agentName, instanceKey } : undefined;
}
