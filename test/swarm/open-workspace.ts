/** A workspace for one test, and orchestrators in it, in this process and in others. They end together with the test. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogLine, startSwarm, type Swarm } from '@goondan/runtime';
import { foldersIn, makeTestFolder, testPlan, workspace } from './start-test-swarm.ts';

interface Greeting {
  readonly pid?: number;
  readonly code?: string;
  readonly message?: string;
}

export async function openWorkspace(agents: readonly string[]) {
  const folder = await makeTestFolder();
  const place = { stateRoot: foldersIn(folder).stateRoot, workspaceId: workspace };
  const children: Bun.Subprocess[] = [];
  const swarms: Swarm[] = [];
  return {
    folder,
    place,
    workspaceFolder: join(place.stateRoot, 'workspaces', workspace),
    /** Starts an orchestrator in this process. */
    async startHere(onLog: (line: LogLine) => void = () => undefined) {
      const swarm = await startSwarm({ ...testPlan(folder, { agents }), onLog });
      swarms.push(swarm);
      return swarm;
    },
    /** Starts an orchestrator in another process, with the command `wrapper` if there is one. */
    async startThere(wrapper: readonly string[] = []) {
      const program = [process.execPath, '--no-install', join(import.meta.dir, 'orchestrator-process.ts')];
      const command = [...wrapper, ...program, folder, ...agents];
      const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
      children.push(child);
      const { value } = await child.stdout.getReader().read();
      // The cast is safe: orchestrator-process.ts printed this line.
      return { child, greeting: JSON.parse(new TextDecoder().decode(value)) as Greeting };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(swarms.map((swarm) => swarm.stop({ graceMs: 0 })));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map(({ exited }) => exited));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
