/**
 * Starts the swarm of `packages/cli/demo`, with its own state root in a temporary folder.
 *
 * 1. Nobody is asked to trust the bundle, because it came with `gdn`.
 * 2. The swarm's processes end with this process. `remove` deletes the folder; if `remove` is not called, the folder is
 *    deleted when this process exits.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Swarm } from '@goondan/runtime';
import { prepareRun, startRun } from '../run/prepare-run.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import type { Terminal } from '../terminal.ts';

/** The bundle that `gdn demo` runs and `gdn init --template demo` writes. */
export const demoBundle = fileURLToPath(new URL('../../demo', import.meta.url));

export interface DemoSwarm {
  readonly control: Swarm;
  /** `stateRoot` and `workspaceId` together locate the workspace for readers such as `openStoreReader`. */
  readonly stateRoot: string;
  readonly workspaceId: string;
  /** Stops the swarm if it runs, and deletes all of its files. */
  readonly remove: () => Promise<void>;
}

/**
 * Starts the swarm. A failure leaves no files behind. **Errors** — `E_STATE_ROOT` when temporary files cannot be
 * written, and those of `startRun`.
 */
export async function startDemoSwarm(terminal: Terminal, signal: AbortSignal): Promise<DemoSwarm> {
  const { folder, removeFolder } = await makeTemporaryFolder('gdn-demo-');
  try {
    const stateRoot = join(folder, 'state');
    const workdir = join(folder, 'work');
    await mkdir(workdir);
    const run = await prepareRun({ folder: demoBundle, stateRoot, workdir, trust: true }, terminal);
    const { control } = await startRun(run, terminal, { signal });
    const remove = () => control.stop().finally(removeFolder);
    return { control, stateRoot, workspaceId: run.workspaceId, remove };
  } catch (error) {
    removeFolder();
    throw error;
  }
}
