/**
 * Crashes a conversation whose turns take inputs at each of its disk operations, and once more during the recovery, and
 * then checks that each input was taken once.
 */
import { openJournal } from '../journal/journal.ts';
import { type Random, seededRandom } from './seeded-random.ts';
import { type CrashMode, SimulatedDisk } from './simulated-disk.ts';
import { simulatedLimits, simulatedLocation, simulatedMachine } from './simulated-machine.ts';
import { checkSteered, liveSteered, makeSteeredInputs, steered, type SteeredInput } from './steered-life.ts';

export interface SteeringReport {
  readonly crashPoints: number;
  readonly problems: readonly string[];
  /** The number of inputs that turns took in undisturbed lives. */
  readonly taken: number;
}

interface Snapshot {
  readonly disk: SimulatedDisk;
  readonly acknowledged: readonly string[];
}

/** Tries all operations of a seed, or every `step`th. `isFirstEnough`: stops at the first problem. */
export async function simulateSteering(
  seed: number,
  { step = 1, isFirstEnough = false }: { readonly step?: number; readonly isFirstEnough?: boolean } = {},
): Promise<SteeringReport> {
  const inputs = makeSteeredInputs(seed);
  const problems: string[] = [];
  const snapshots: Snapshot[] = [];
  let taken = 0;
  let crashPoints = 0;
  const note = (where: string, error: unknown) => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    problems.push(`seed ${seed}, ${where}: ${reason}`);
  };
  try {
    const disk = SimulatedDisk.empty();
    await live(disk, 1, inputs, [], (snapshot) => snapshots.push(snapshot));
    taken = await check(
      disk,
      inputs.map(({ event }) => event.id),
    );
  } catch (error) {
    note('no crash', error);
  }
  for (let operation = seed % step; operation < snapshots.length; operation += step) {
    for (const mode of ['kill', 'power'] as const) {
      if (isFirstEnough && problems.length > 0) break;
      crashPoints += 1;
      const snapshot = snapshots[operation];
      if (snapshot === undefined) continue;
      const random = seededRandom(seed, operation, mode === 'kill' ? 10 : 11);
      await crashTwice(snapshot, mode, inputs, random).catch((error: unknown) => note(`${mode} ${operation}`, error));
    }
  }
  return { crashPoints, problems, taken };
}

async function crashTwice(
  first: Snapshot,
  mode: CrashMode,
  inputs: readonly SteeredInput[],
  random: Random,
): Promise<void> {
  const disk = first.disk.crash(mode, random);
  let chosen: Snapshot = { disk: disk.copy(), acknowledged: first.acknowledged };
  let moments = 1;
  await live(disk, 2, inputs, [...first.acknowledged], (snapshot) => {
    moments += 1;
    if (random.below(moments) === 0) chosen = snapshot;
  });
  const last = chosen.disk.crash(random.pick(['kill', 'power'] as const), random);
  await live(last, 3, inputs, [...chosen.acknowledged], () => undefined);
  await check(
    last,
    inputs.map(({ event }) => event.id),
  );
}

/** Lives on a disk, with two journals as in production. `onMoment`: called after each operation. */
async function live(
  disk: SimulatedDisk,
  life: number,
  inputs: readonly SteeredInput[],
  acknowledged: string[],
  onMoment: (snapshot: Snapshot) => void,
): Promise<void> {
  disk.afterOperation = () => onMoment({ disk: disk.copy(), acknowledged: [...acknowledged] });
  const ports = simulatedMachine(disk, life);
  const orchestrator = await openJournal(ports, simulatedLocation, simulatedLimits);
  await orchestrator.openInbox();
  const agent = await openJournal(ports, simulatedLocation, simulatedLimits);
  await liveSteered({ inputs, acknowledged, orchestrator, agent });
  await agent.close();
  await orchestrator.close();
  disk.afterOperation = undefined;
}

/** Returns the number of inputs that turns took. */
async function check(disk: SimulatedDisk, acknowledged: readonly string[]): Promise<number> {
  const reader = await openJournal(simulatedMachine(disk, 100), simulatedLocation, simulatedLimits);
  const turns = await Array.fromAsync(reader.archive(steered));
  const { messages } = await reader.read(steered);
  checkSteered({ messages, turns, pending: await reader.pending(steered) }, acknowledged);
  const { pending } = await reader.summary(steered);
  if (pending > 0) throw new Error(`the summary says that ${pending} inputs wait`);
  return turns.flatMap(({ events }) => events.filter(({ took }) => took)).length;
}
