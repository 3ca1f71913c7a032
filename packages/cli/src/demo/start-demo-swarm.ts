/**
 * The swarm of `packages/cli/demo`, with a state root of its own in a temporary folder.
 *
 * 1. Nobody is asked for trust: the bundle came with `gdn`.
 * 2. Its processes end with this one. The folder goes with `remove`, and if that is never called, when this process exits.
 */
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { prepareRun, startRun } from '../run/prepare-run.ts';
import type { Terminal } from '../terminal.ts';

/** The bundle: what `gdn demo` runs and `gdn init --template demo` writes. */
export const demoBundle = fileURLToPath(new URL('../../demo', import.meta.url));

export interface DemoSwarm {
  readonly control: Swarm;
  /** With the next, the place that `readTurnTrace` and whoever else looks at workspaces needs. */
  readonly stateRoot: string;
  readonly workspaceId: string;
  /** Stops the swarm, unless it is stopped, and removes everything it has written. */
  readonly remove: () => Promise<void>;
}

/** **Errors** — `E_STATE_ROOT` when there is no room for temporary files, and those of `startRun`; nothing is left then. */
export async function startDemoSwarm(terminal: Terminal, signal: AbortSignal): Promise<DemoSwarm> {
  const { folder, removeFolder } = await makeTemporaryFolder();
  try {
    const stateRoot = join(folder, 'state');
    const workdir = join(folder, 'work');
    await mkdir(workdir);
    const run = await prepareRun({ folder: demoBundle, stateRoot, workdir, trust: true }, terminal);
    const { control } = await startRun(run, terminal, signal);
    const remove = () => control.stop().finally(removeFolder);
    return { control, stateRoot, workspaceId: run.workspaceId, remove };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

async function makeTemporaryFolder(): Promise<{ folder: string; removeFolder: () => void }> {
  const folder = await makeFolder();
  const removeNow = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeNow);
  const removeFolder = () => {
    process.off('exit', removeNow);
    removeNow();
  };
  return { folder, removeFolder };
}

async function makeFolder(): Promise<string> {
  try {
    return await mkdtemp(join(await realpath(tmpdir()), 'gdn-demo-'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new GoondanError('E_STATE_ROOT', `No temporary folder can be made in "${tmpdir()}": ${reason}.`, {
      suggestion: 'Set TMPDIR to a folder that you may write to.',
      cause,
    });
  }
}
