import { join } from 'node:path';
import type { AgentAddress } from '@goondan/types';
import { readHead } from '../inbox/inbox-lines.ts';
import { type InstancePaths, isAside, pathsIn } from '../layout/instance-paths.ts';
import { readLines } from '../lines/read-lines.ts';
import type { StorePorts } from '../store-ports.ts';
import { readMetadata } from './read-metadata.ts';

/** The instances that have a folder, in no order. One that cannot be read is left out, with a warning. */
export async function listInstances(ports: StorePorts, folder: string): Promise<AgentAddress[]> {
  const found: AgentAddress[] = [];
  for (const name of (await ports.fs.list(folder)) ?? []) {
    if (isAside(name)) continue;
    const paths = pathsIn(join(folder, name));
    try {
      const address = await readAddress(ports, paths);
      if (address) found.push(address);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      ports.warn({ path: paths.folder, message: `cannot tell whose folder this is: ${reason}` });
    }
  }
  return found;
}

/** An instance that only has input so far has no metadata yet. */
async function readAddress(ports: StorePorts, paths: InstancePaths): Promise<AgentAddress | undefined> {
  const inbox = readLines((await ports.fs.read(paths.inbox)) ?? new Uint8Array());
  const whose = (await readMetadata(ports, paths.metadata)) ?? (inbox.lines[0] && readHead(inbox.lines[0]));
  return whose && { agentName: whose.agentName, instanceKey: whose.instanceKey };
}
