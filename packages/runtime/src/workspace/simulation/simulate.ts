/**
 * Crashes one workload at each of its operations, and once more during the following recovery, and then checks the
 * result. Each crash point has a name, and `replay` repeats it exactly.
 */
import { check } from './check.ts';
import { live } from './live.ts';
import { seededRandom, type Random } from './seeded-random.ts';
import { SimulatedDisk, type CrashMode } from './simulated-disk.ts';
import { simulatedMachine } from './simulated-machine.ts';
import { makeWorkload, type Workload } from './workload.ts';
import { losePower, momentOf, newWorld, worldAt, type Moment, type World } from './world.ts';

export interface CrashPoint {
  readonly seed: number;
  /** The number of the operation after which the first crash happens, counted from 0. */
  readonly operation: number;
  readonly mode: CrashMode;
}

export interface Violation {
  readonly point: CrashPoint;
  readonly problem: string;
}

export interface SimulationReport {
  /** The number of first crashes, of both modes. Each first crash was followed by a second one during the recovery. */
  readonly crashPoints: number;
  readonly violations: readonly Violation[];
}

interface Snapshot {
  readonly disk: SimulatedDisk;
  readonly moment: Moment;
}

/** Simulates one seed, with at most `most` crash points. If `stopAtFirst` is true, stops at the first violation. */
export async function simulate(
  seed: number,
  { stopAtFirst = false, most = Infinity }: { readonly stopAtFirst?: boolean; readonly most?: number } = {},
): Promise<SimulationReport> {
  const workload = makeWorkload(seed);
  const world = newWorld();
  const violations: Violation[] = [];
  let crashPoints = 0;
  const snapshots = await liveAndRemember(workload, world);
  for (const [operation, snapshot] of snapshots.entries()) {
    for (const mode of ['kill', 'power'] as const) {
      const point = { seed, operation, mode };
      crashPoints += 1;
      const problem = await crashTwice(point, workload, snapshot, world);
      if (problem !== undefined) violations.push({ point, problem });
      if (crashPoints >= most || (problem !== undefined && stopAtFirst)) return { crashPoints, violations };
    }
  }
  return { crashPoints, violations };
}

/** Returns the problem found at one crash point, or `undefined`. */
export async function replay(point: CrashPoint): Promise<string | undefined> {
  const workload = makeWorkload(point.seed);
  const world = newWorld();
  const snapshots = await liveAndRemember(workload, world);
  const snapshot = snapshots[point.operation];
  if (!snapshot) throw new Error(`seed ${point.seed} has ${snapshots.length} operations`);
  return crashTwice(point, workload, snapshot, world);
}

async function crashTwice(
  { seed, operation, mode }: CrashPoint,
  workload: Workload,
  first: Snapshot,
  world: World,
): Promise<string | undefined> {
  const random = seededRandom(seed, operation, mode === 'kill' ? 0 : 1);
  // Half of the crash points have this additional read. More are not needed, because the final check covers most of it.
  const isWatched = operation % 2 === (mode === 'kill' ? 0 : 1);
  try {
    const disk = first.disk.crash(mode, random);
    const worldThen = afterCrash(worldAt(world, first.moment), mode);
    // Usually no further input is sent, so that the second crash happens during the recovery.
    const inputs = first.moment.acknowledged + (random.chance(0.25) ? 1 : 0);
    const machine = simulatedMachine(disk, 2, writeMsOf(workload));
    const second = await liveOn(disk, { ports: machine, workload, world: worldThen, inputs, isWatched }, random);
    if (isWatched) await check(simulatedMachine(disk, 102), workload, worldThen);

    const lastMode = random.pick(['kill', 'power'] as const);
    const lastDisk = second.disk.crash(lastMode, random);
    const lastWorld = afterCrash(worldAt(worldThen, second.moment), lastMode);
    const last = {
      ports: simulatedMachine(lastDisk, 3, writeMsOf(workload)),
      workload,
      world: lastWorld,
      isWatched: false,
    };
    // In some cases further input is sent, to show that work continues and that unacknowledged input can be sent again.
    await liveOn(lastDisk, { ...last, inputs: inputs + (random.chance(0.6) ? 1 : 0) }, random);
    await check(simulatedMachine(lastDisk, 103), workload, lastWorld);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

function afterCrash(world: World, mode: CrashMode): World {
  return mode === 'power' ? losePower(world) : world;
}

/** Runs another life on this disk, and returns a snapshot of a random moment of that life. */
async function liveOn(disk: SimulatedDisk, life: Parameters<typeof live>[0], random: Random): Promise<Snapshot> {
  setSyncTicks(disk, life.workload, random);
  let moments = 1;
  let chosen: Snapshot = { disk: disk.copy(), moment: momentOf(life.world) };
  disk.afterOperation = () => {
    moments += 1;
    if (random.below(moments) === 0) chosen = { disk: disk.copy(), moment: momentOf(life.world) };
  };
  await live(life);
  disk.afterOperation = undefined;
  return chosen;
}

/** Returns the time that a write takes. Half of the seeds have a slow disk, on which the log is synced in the background. */
function writeMsOf({ seed }: Workload): number {
  return seed % 2 === 0 ? 1 : 9;
}

function setSyncTicks(disk: SimulatedDisk, { syncTicks }: Workload, random: Random): void {
  if (syncTicks > 0) disk.syncTicks = () => random.below(syncTicks);
}

/** Runs the first life without a crash, and returns snapshots of disk and world after every operation. */
async function liveAndRemember(workload: Workload, world: World): Promise<readonly Snapshot[]> {
  const disk = SimulatedDisk.empty();
  setSyncTicks(disk, workload, seededRandom(workload.seed, 2));
  const snapshots: Snapshot[] = [{ disk: disk.copy(), moment: momentOf(world) }];
  disk.afterOperation = () => snapshots.push({ disk: disk.copy(), moment: momentOf(world) });
  const inputs = workload.inputs.length;
  await live({ ports: simulatedMachine(disk, 1, writeMsOf(workload)), workload, world, inputs, isWatched: false });
  disk.afterOperation = undefined;
  return snapshots;
}
