/** Reads the model calls of all instances of a workspace, and of deleted ones. The cost does not grow with the histories. */
import { type InstanceSpending, keepRecent, SpendingSum } from '../../usage/spending.ts';
import { instancesFolder, isAside } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import type { StorePorts } from '../store-ports.ts';
import { type DeletedSpending, readDeletedSpending } from './deleted-spending.ts';
import { deletionOf } from './delete-instance.ts';
import { readFolderSpending } from './folder-spending.ts';

const ATTEMPTS = 5;

/** `since`: the first day; all kept days when absent. */
export async function readSpending(
  ports: StorePorts & { readonly limits: StoreLimits },
  workspace: string,
  since = '',
): Promise<{ readonly spendings: readonly InstanceSpending[]; readonly problems: readonly string[] }> {
  for (let attempt = 1; ; attempt += 1) {
    const deleted = await readDeletedSpending(ports, workspace);
    const found = await readFolders(ports, instancesFolder(workspace), deleted);
    const after = await readDeletedSpending(ports, workspace);
    // An instance that was deleted meanwhile may be missing, or counted twice.
    if (JSON.stringify(deleted) !== JSON.stringify(after) && attempt < ATTEMPTS) continue;
    const sum = new SpendingSum([...deleted.spendings, ...found.spendings].filter(({ day }) => day >= since));
    // Older days are in the files until the next checkpoint.
    return { spendings: keepRecent(sum.list(), ports.clock.now().getTime()), problems: found.problems };
  }
}

async function readFolders(
  ports: StorePorts & { readonly limits: StoreLimits },
  folder: string,
  { folders: counted }: DeletedSpending,
) {
  const spendings: InstanceSpending[] = [];
  const problems: string[] = [];
  for (const name of (await ports.fs.list(folder)) ?? []) {
    const isDeleted = isAside(name);
    if (isDeleted && (deletionOf(name) === undefined || counted.includes(name))) continue;
    const found = await readFolderSpending(ports, `${folder}/${name}`);
    // A deletion is removing these files, after it has counted their calls or found none.
    if (typeof found === 'string' && isDeleted) continue;
    if (typeof found === 'string') problems.push(`${name}: ${found}`);
    else spendings.push(...(isDeleted ? found.map(({ instanceKey: _, ...spending }) => spending) : found));
  }
  return { spendings, problems };
}
