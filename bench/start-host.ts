/** Starts a swarm in a process of its own, and measures it from there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostAnswer, HostCalls } from './swarm-host.ts';
import { type SwarmBundleOptions, writeSwarmBundle } from './swarm-bundle.ts';

type Ask = <Name extends keyof HostCalls>(
  name: Name,
  ...argument: Parameters<HostCalls[Name]>
) => Promise<ReturnType<HostCalls[Name]>>;

export interface SwarmHost {
  readonly bundleFolder: string;
  readonly stateRoot: string;
  readonly ask: Ask;
  /** Starts the swarm, or starts it again after `ask('stop')`. Returns the milliseconds until it was ready. */
  start(): Promise<number>;
  /** Stops the swarm and its process, and removes its files. */
  end(): Promise<void>;
}

export function startHost(options: SwarmBundleOptions): SwarmHost {
  const bundleFolder = writeSwarmBundle(options);
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-bench-swarm-'));
  let answered = Promise.withResolvers<HostAnswer>();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'swarm-host.ts')], {
    ipc: (answer: HostAnswer) => answered.resolve(answer),
    stdio: ['ignore', 'inherit', 'inherit'],
    onExit: () => answered.resolve({ error: 'The process of the swarm has ended.' }),
  });
  const ask: Ask = async (call, ...[argument]) => {
    answered = Promise.withResolvers<HostAnswer>();
    child.send({ call, argument });
    const answer = await answered.promise;
    if ('error' in answer) throw new Error(answer.error);
    // The host answers each call with the result that `HostCalls` declares for it.
    return answer.result as never;
  };
  return {
    bundleFolder,
    stateRoot,
    ask,
    start: () => ask('start', { bundleFolder, stateRoot }),
    async end() {
      try {
        await ask('stop');
      } finally {
        child.kill();
        await child.exited;
        for (const folder of [bundleFolder, stateRoot]) rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
