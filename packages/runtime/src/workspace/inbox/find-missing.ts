/**
 * Finds the instances whose input was in an inbox log that is gone. The log of an instance says how far its input had come.
 * Nobody knows whether more input was waiting, so such an instance does not start.
 */
import type { AgentAddress } from '@goondan/types';
import { pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { readFirstMetadata, readMetadata } from '../records/read-metadata.ts';
import type { StorePorts } from '../store-ports.ts';
import type { LineName } from './inbox-line.ts';
import { type InputProgress, readProgress } from './input-progress.ts';

export interface InstancesPlace extends StorePorts {
  /** The folder of the instances. */
  readonly instances: string;
  readonly storedAt: (address: AgentAddress) => StoredInstance;
}

/** Returns the first line of each instance that may be missing. `names`: the folders of the instances. */
export async function findMissing(place: InstancesPlace, names: Iterable<string>): Promise<LineName[]> {
  const found: LineName[] = [];
  for (const name of names) {
    const folder = `${place.instances}/${name}`;
    try {
      const missing = await missingOf(place, folder);
      if (missing) found.push(missing);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      place.warn({
        path: folder,
        message: `nobody can tell whether it had input in the inbox that is gone: ${reason}`,
      });
    }
  }
  return found;
}

/** Returns the number of the first line that no turn has handled, if the instance has used its inbox. */
export function missingAfter({ handled, taken, begun }: InputProgress): number | undefined {
  if (begun === 0) return undefined;
  return Math.max(begun, handled + 1, ...taken.map((seq) => seq + 1));
}

async function missingOf(place: InstancesPlace, folder: string): Promise<LineName | undefined> {
  const files = { ...place, paths: pathsIn(folder) };
  const metadata = (await readMetadata(files)) ?? (await readFirstMetadata(files))?.metadata;
  if (!metadata) return undefined;
  const to = { agentName: metadata.agentName, instanceKey: metadata.instanceKey };
  const seq = missingAfter(await readProgress(place.storedAt(to)));
  return seq === undefined ? undefined : { to, seq };
}
