/** Kills the agent process at each of its disk operations, while the orchestrator keeps running and accepting input. */
import { openJournal } from '../journal/journal.ts';
import { check } from './check.ts';
import { failingFs } from './failing-fs.ts';
import { serve } from './live.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { simulatedLimits, simulatedLocation, simulatedMachine } from './simulated-machine.ts';
import { makeWorkload } from './workload.ts';
import { newWorld } from './world.ts';

export interface AgentKillReport {
  readonly kills: number;
  readonly problems: readonly string[];
}

/** Tries all operations, or every `step`th operation. */
export async function simulateAgentKill(seed: number, step = 1): Promise<AgentKillReport> {
  const problems: string[] = [];
  for (let kills = 0; ; kills += 1) {
    try {
      const wasKilled = await killAgentAt(seed, kills * step);
      if (!wasKilled) return { kills, problems };
    } catch (error) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      problems.push(`seed ${seed}, operation ${kills * step}: ${reason}`);
    }
  }
}

/**
 * Kills the agent at operation `at` and checks the result. Returns false when the agent finished before that operation.
 */
async function killAgentAt(seed: number, at: number): Promise<boolean> {
  const workload = makeWorkload(seed);
  const world = newWorld();
  const disk = SimulatedDisk.empty();
  let operations = 0;
  const mortal = failingFs(disk, () => {
    operations += 1;
    if (operations > at) throw new Error('killed');
  });
  const orchestrator = await openJournal(simulatedMachine(disk, 1), simulatedLocation, simulatedLimits);
  const wasKilled = await live(mortal, 2).catch(() => true);
  if (wasKilled) await live(disk, 3);
  await orchestrator.close();
  await check(simulatedMachine(disk, 4), workload, world);
  return wasKilled;

  async function live(fs: SimulatedDisk | typeof mortal, number: number): Promise<boolean> {
    const ports = simulatedMachine(fs, number);
    const agent = await openJournal(ports, simulatedLocation, simulatedLimits);
    await serve(orchestrator, agent, { workload, world, inputs: workload.inputs.length, isWatched: false });
    await agent.close();
    return false;
  }
}
