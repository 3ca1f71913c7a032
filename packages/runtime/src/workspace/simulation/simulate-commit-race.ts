/**
 * Simulates an orchestrator that removes handled events from an inbox while the commit of one of these events is
 * visible but not yet durable. Random workloads rarely hit this short moment. So in this simulation the sync of the
 * commit never ends.
 */
import type { Fs } from '../../ports/fs.ts';
import { openJournal, type Journal } from '../journal/journal.ts';
import { check } from './check.ts';
import { failingFs } from './failing-fs.ts';
import { live } from './live.ts';
import { runScriptedTurn } from './run-scripted-turn.ts';
import { seededRandom } from './seeded-random.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { simulatedLimits, simulatedLocation, simulatedMachine } from './simulated-machine.ts';
import { makeWorkload, type Workload } from './workload.ts';
import { losePower, momentOf, newWorld, worldAt, type Moment, type World } from './world.ts';

const TRIES = 20;

/** Returns the problems, and the number of crashes that were tried. */
export async function simulateCommitRace(): Promise<{
  readonly crashes: number;
  readonly problems: readonly string[];
}> {
  const workload = threeInputs();
  const world = newWorld();
  const disk = SimulatedDisk.empty();
  const moments: { readonly disk: SimulatedDisk; readonly moment: Moment }[] = [];
  const orchestrator = await openJournal(simulatedMachine(disk, 1), simulatedLocation, simulatedLimits);
  const send = (index: number) => sendInput(orchestrator, workload, world, index);
  await commitAndHang(disk, workload, world, send);
  disk.afterOperation = () => moments.push({ disk: disk.copy(), moment: momentOf(world) });
  await send(2);

  const problems: string[] = [];
  for (const [operation, { disk: then, moment }] of moments.entries()) {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const survivor = then.crash('power', seededRandom(operation, attempt));
      const survivors = losePower(worldAt(world, moment));
      try {
        await live({ ports: simulatedMachine(survivor, 2), workload, world: survivors, inputs: 3, isWatched: false });
        await check(simulatedMachine(survivor, 3), workload, survivors);
      } catch (error) {
        problems.push(
          `operation ${operation}, try ${attempt}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  }
  return { crashes: moments.length * TRIES, problems };
}

function threeInputs(): Workload {
  const [sample] = makeWorkload(0).inputs;
  if (!sample) throw new Error('a workload without inputs');
  const script = { steps: [], note: false, edit: 'none', fails: false, state: 'keep' } as const;
  const instance = { agentName: 'coder', instanceKey: 'default' };
  const calm = {
    isAfterStray: false,
    reset: 'none',
    isSentDuringTurn: false,
    isSentTwice: false,
    isAnswerFetched: false,
    ticks: 0,
  } as const;
  const inputs = ['e0', 'e1', 'e2'].map((id) => ({
    ...sample,
    ...calm,
    instance,
    script,
    event: { ...sample.event, id },
  }));
  return { seed: 0, instances: [instance], inputs, syncTicks: 0, crashesBeforeDeadLetter: 9 };
}

/** Commits a second turn until its commit is written. The write then never ends, so it is not durable. */
async function commitAndHang(
  disk: SimulatedDisk,
  workload: Workload,
  world: World,
  send: (index: number) => Promise<void>,
): Promise<void> {
  let isHanging = false;
  let reached = () => {};
  const hanging = new Promise<void>((resolve) => (reached = resolve));
  const calm = failingFs(disk, () => undefined);
  const fs: Fs = {
    ...calm,
    async openRoom(path) {
      const file = await calm.openRoom(path);
      let isWritten = false;
      // The bytes are visible for other processes, and not durable.
      const write = async (at: number, bytes: Uint8Array) => {
        await file.write(at, bytes);
        isWritten = isHanging;
      };
      const hang = () => {
        reached();
        return new Promise<void>(() => {});
      };
      const writeThrough = (at: number, bytes: Uint8Array) =>
        isHanging ? write(at, bytes).then(hang) : file.writeThrough(at, bytes);
      return { ...file, write, writeThrough, sync: () => (isWritten ? hang() : file.sync()) };
    },
  };
  const agent = await openJournal(simulatedMachine(fs, 1), simulatedLocation, simulatedLimits);
  const run = { store: agent, world, crashesBeforeDeadLetter: 9, meanwhile: async () => undefined };
  const [first, second] = workload.inputs;
  if (!first || !second) throw new Error('a workload without inputs');
  await send(0);
  await runScriptedTurn({ ...run, input: first, seq: 1 });
  await send(1);
  isHanging = true;
  void runScriptedTurn({ ...run, input: second, seq: 2 });
  await hanging;
}

async function sendInput(orchestrator: Journal, { inputs }: Workload, world: World, index: number): Promise<void> {
  const input = inputs[index];
  if (!input) throw new Error(`no input ${index}`);
  world.sent.push(input.event.id);
  await orchestrator.accept(input.instance, input.event);
  world.acknowledged.push(input.event.id);
}
