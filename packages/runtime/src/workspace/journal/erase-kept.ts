import { instancesFolder, type JournalLocation } from '../layout/instance-paths.ts';
import { keptWorkspace } from '../layout/kept-workspace.ts';
import { isKeptInUse } from '../lock/is-kept-in-use.ts';
import type { StorePorts } from '../store-ports.ts';

/**
 * Removes the old files of a deleted instance, which a migration has kept for an older version. `name`: the name of its
 * folder. The files stay, with a warning, while an older version runs on them.
 */
export async function eraseKept(ports: StorePorts, location: JournalLocation, name: string): Promise<void> {
  const path = keptInstance(location, name);
  if (!(await ports.fs.stat(path))) return;
  if (!(await isKeptInUse(ports, location))) return ports.fs.removeFolder(path);
  ports.warn({ path, message: KEPT_IN_USE });
}

export const KEPT_IN_USE =
  'still has the old files of a deleted conversation, because an older version of Goondan runs on them; stop that swarm, then remove this folder';

export function keptInstance(location: JournalLocation, name: string): string {
  return `${instancesFolder(keptWorkspace(location))}/${name}`;
}
