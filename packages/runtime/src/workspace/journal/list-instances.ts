import { join } from 'node:path';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { readHead } from '../inbox/inbox-lines.ts';
import { instanceFolderName } from '../layout/instance-folder-name.ts';
import { type InstancePaths, isAside, pathsIn } from '../layout/instance-paths.ts';
import { readLines } from '../lines/read-lines.ts';
import type { StorePorts } from '../store-ports.ts';
import { readMetadata } from '../records/read-metadata.ts';

/**
 * Lists the instances that have a folder, in no particular order. A folder without a known owner is left out, with a
 * warning.
 */
export async function listInstances(ports: StorePorts, folder: string): Promise<AgentAddress[]> {
  const found: AgentAddress[] = [];
  for (const name of (await ports.fs.list(folder)) ?? []) {
    if (isAside(name)) continue;
    const paths = pathsIn(join(folder, name));
    try {
      const address = (await readAddress(ports, paths)) ?? (await addressOfName(ports, paths, name));
      if (address) found.push(address);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      ports.warn({ path: paths.folder, message: `cannot tell whose folder this is: ${reason}` });
    }
  }
  return found;
}

/** Reads the address. An instance with only input has no metadata yet; one with damaged metadata is listed anyway. */
async function readAddress(ports: StorePorts, paths: InstancePaths): Promise<AgentAddress | undefined> {
  const whose = (await readWhole(ports, paths)) ?? (await readInboxHead(ports, paths));
  return whose && { agentName: whose.agentName, instanceKey: whose.instanceKey };
}

async function readWhole(ports: StorePorts, paths: InstancePaths): Promise<AgentAddress | undefined> {
  try {
    return await readMetadata(ports, paths.metadata);
  } catch (error) {
    if (GoondanError.is(error) && error.code === 'E_STORE_CORRUPT') return undefined;
    throw error;
  }
}

async function readInboxHead({ fs }: StorePorts, { inbox }: InstancePaths): Promise<AgentAddress | undefined> {
  const [head] = readLines((await fs.read(inbox)) ?? new Uint8Array()).lines;
  return head && readHead(head);
}

/**
 * Reads the address from the name of the folder, unless the name is shortened to a hash. A folder without files has no
 * owner yet.
 */
async function addressOfName(
  { fs }: StorePorts,
  { metadata, inbox }: InstancePaths,
  name: string,
): Promise<AgentAddress | undefined> {
  if (!(await fs.stat(metadata)) && !(await fs.stat(inbox))) return undefined;
  const [agentName = '', instanceKey = ''] = name.split('~');
  return instanceFolderName(agentName, instanceKey) === name ? { agentName, instanceKey } : undefined;
}
