/**
 * Lets one operation of a workload fail while the process keeps running. Nothing may be lost, and later work must
 * succeed.
 */
import { GoondanError } from '@goondan/types';
import { check } from './check.ts';
import { failingFs, systemError } from './failing-fs.ts';
import { live } from './live.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { simulatedMachine } from './simulated-machine.ts';
import { makeWorkload } from './workload.ts';
import { newWorld } from './world.ts';

export interface FaultReport {
  readonly faults: number;
  /** How often each error code was reported. */
  readonly codes: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

/**
 * Lets operations fail. `often` is the number of failures in a row. Tries all operations, or every `step`th operation.
 */
export async function simulateFaults(seed: number, code: string, often: number, step = 1): Promise<FaultReport> {
  const codes = new Map<string, number>();
  const problems: string[] = [];
  const operations = await countOperations(seed);
  for (let at = 0; at < operations; at += step) {
    try {
      await liveThroughFault(seed, at, code, often, codes);
    } catch (error) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      problems.push(`seed ${seed}, operation ${at}, ${code} × ${often}: ${reason}`);
    }
  }
  return { faults: Math.ceil(operations / step), codes, problems };
}

async function countOperations(seed: number): Promise<number> {
  let count = 0;
  const workload = makeWorkload(seed);
  const fs = failingFs(SimulatedDisk.empty(), () => (count += 1));
  const inputs = workload.inputs.length;
  await live({ ports: simulatedMachine(fs, 1), workload, world: newWorld(), inputs, isWatched: false });
  return count;
}

async function liveThroughFault(
  seed: number,
  at: number,
  code: string,
  often: number,
  codes: Map<string, number>,
): Promise<void> {
  const workload = makeWorkload(seed);
  const world = newWorld();
  const disk = SimulatedDisk.empty();
  let operation = 0;
  const fs = failingFs(disk, () => {
    const isDue = operation >= at && operation < at + often;
    operation += 1;
    if (isDue) throw systemError(code);
  });
  const survives = (error: unknown) => {
    if (!(error instanceof GoondanError)) return false;
    codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
    // `E_LOCKED` means that the release of the lock failed, and must be repeated at the next use.
    return ['E_DISK_FULL', 'E_LOCKED', 'E_STORE_READ', 'E_STORE_WRITE'].includes(error.code);
  };
  for (let number = 1; ; number += 1) {
    const ports = simulatedMachine(fs, number);
    try {
      await live({ ports, workload, world, inputs: workload.inputs.length, isWatched: false, survives });
      break;
    } catch (error) {
      // The journal could not be opened or closed, so its process is restarted.
      if (!survives(error)) throw error;
    }
  }
  await check(simulatedMachine(disk, 100), workload, world);
}
