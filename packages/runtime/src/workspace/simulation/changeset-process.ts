/** The program of a child process. It commits a changeset, and is killed in the middle. */
import { systemBundleFs } from '../../ports/bundle-fs.ts';
import { openChangesets } from '../changesets/open-changesets.ts';
import { failingBundleFs } from './failing-fs.ts';

export interface ChangesetOrder {
  readonly stateRoot: string;
  readonly bundleFolder: string;
  readonly id: string;
  /** The number of the disk operation before which the process kills itself; never when absent. */
  readonly killAt?: number;
  /** True if the commit hangs after the files are replaced. */
  readonly hangs?: boolean;
}

/** Commits the changeset and returns the number of disk operations. `onApplied` runs when the files are replaced. */
export async function commitChangeset(order: ChangesetOrder, onApplied: () => void = () => undefined): Promise<number> {
  let operations = 0;
  const fs = failingBundleFs(systemBundleFs, () => {
    operations += 1;
    if (operations === order.killAt) process.kill(process.pid, 'SIGKILL');
  });
  const changesets = openChangesets({ ...order, fs });
  const { edits, digest } = await changesets.edits(order.id);
  await changesets.apply(order.id, edits, { digest, baseRef: 'b', newRef: 'n', addedTools: [] }, async () => {
    onApplied();
    if (order.hangs === true) await new Promise(() => undefined);
  });
  return operations;
}

if (import.meta.main) {
  // The test process has exited, so this process exits too.
  process.on('disconnect', () => process.exit());
  const order = process.argv[2] ?? '';
  // Safe: only the test starts this program.
  await commitChangeset(JSON.parse(order) as ChangesetOrder, () => process.send?.('applied'));
  process.exit();
}
