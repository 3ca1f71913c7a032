/** One of the two versions of Goondan: its commands, and swarms that it runs in processes of their own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Swarm } from '@goondan/runtime';
import { readOwner } from '../../packages/runtime/src/testing/read-owner.ts';
import { findTagged, waitUntilGone } from '../../test/torture/processes.ts';
import { type Group, startGroup } from './process-group.ts';

export const workspace = 'migration';

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface Version {
  readonly name: 'old' | 'new';
  /** Runs a command of `gdn` in this process. */
  readonly gdn: (stateRoot: string, ...args: readonly string[]) => Promise<Ended>;
  /** Starts a command of `gdn` as a process group of its own. */
  readonly start: (stateRoot: string, ...args: readonly string[]) => Group;
  /** Starts the swarm, and resolves when it accepts input. */
  readonly serve: (stateRoot: string) => Promise<Served>;
}

export interface Served {
  readonly swarm: Swarm;
  /** Kills the orchestrator with SIGKILL, and waits until its agents have ended too. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

// The swarms that were served. This state is module-level, because the end of the program waits for their processes.
const runTags = new Set<string>();

/** Waits until the processes of killed swarms have ended, so that nothing is left behind. */
export async function untilSwarmsGone(): Promise<void> {
  for (const tag of runTags) await waitUntilGone(tag, 10_000);
}

export async function loadVersion(name: Version['name'], folder: string, bundle: string): Promise<Version> {
  // Both versions have these modules, with the same types.
  const { runCaptured } = (await import(join(folder, 'packages/cli/src/testing/run-captured.ts'))) as {
    readonly runCaptured: (args: readonly string[]) => Promise<Ended>;
  };
  const { connectSwarm } = (await import(join(folder, 'packages/runtime/src/index.ts'))) as {
    readonly connectSwarm: (place: { readonly stateRoot: string; readonly workspaceId: string }) => Promise<Swarm>;
  };
  const manifest = JSON.parse(readFileSync(join(folder, 'packages/cli/package.json'), 'utf8')) as {
    readonly bin: { readonly gdn: string };
  };
  const launcher = join(folder, 'packages/cli', manifest.bin.gdn);

  const start: Version['start'] = (stateRoot, ...args) =>
    startGroup(['node', launcher, ...args, '--state-root', stateRoot]);
  const serve = async (stateRoot: string): Promise<Served> => {
    const group = start(stateRoot, 'run', bundle, '--trust', '--json');
    const place = { stateRoot, workspaceId: workspace };
    const swarm = await connectWhenReady(group, () => connectSwarm(place));
    const owner = await readOwner(place);
    if (owner === undefined) throw new Error('Nobody runs the workspace.');
    runTags.add(owner.runTag);
    const end = async () => {
      await group.gone();
      if ((await waitUntilGone(owner.runTag, 10_000)) === undefined)
        throw new Error(`Processes are left: ${findTagged(owner.runTag).join(', ')}`);
      runTags.delete(owner.runTag);
    };
    return {
      swarm,
      async kill() {
        group.kill();
        await end();
      },
      async stop() {
        await swarm.stop();
        await end();
      },
    };
  };
  return {
    name,
    gdn: (stateRoot, ...args) => runCaptured([...args, '--bundle', bundle, '--state-root', stateRoot]),
    start,
    serve,
  };
}

async function connectWhenReady(group: Group, connect: () => Promise<Swarm>): Promise<Swarm> {
  const deadline = performance.now() + 120_000;
  let exited: number | undefined;
  void group.exited.then((code) => (exited = code));
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (exited !== undefined)
        throw new Error(`The swarm has ended (${exited}): ${await group.errors()}`, { cause: error });
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    }
  }
}
