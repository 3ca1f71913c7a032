/**
 * A conversation whose turns take inputs, on nodes that are broken at each of their statements, and agent processes that
 * are killed at each of their calls. The life and the check are those of the simulation on files. Each point is followed
 * by a second fault, and by a node that finishes.
 */
import { GoondanError } from '@goondan/types';
import { type Random, seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import {
  checkSteered,
  liveSteered,
  makeSteeredInputs,
  steered,
  type SteeredInput,
} from '../../../runtime/src/workspace/simulation/steered-life.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import { readersOf } from '../store/open-reader.ts';
import { checkCounts, checkUntouched, endLeases, readRows, type SwarmRowTexts } from './read-rows.ts';
import { runSeveral } from './run-several.ts';
import { type Fault, faults, type PlannedFault, SimulatedDatabase } from './simulated-database.ts';
import { joinSimulated, type Observed, type SimulatedNode } from './simulated-node.ts';

/** The number of points at a time. */
const WIDTH = 6;

interface Stage {
  readonly real: Database;
  readonly swarm: string;
  readonly inputs: readonly SteeredInput[];
  readonly acknowledged: string[];
  readonly observed: Observed;
}

export interface SteeringToSimulate {
  readonly seeds: readonly number[];
  /** One of so many points is tried. */
  readonly step?: number;
  readonly isFirstEnough?: boolean;
}

/** Returns the number of points, and the problems. */
export async function simulateSteering(
  address: string,
  { seeds, step = 1, isFirstEnough = false }: SteeringToSimulate,
): Promise<{ points: number; problems: readonly string[] }> {
  const real = openDatabase(address, { connections: WIDTH });
  const run = crypto.randomUUID();
  const problems: string[] = [];
  let points = 0;
  const attempt = (seed: number, name: string, action: (stage: Stage) => Promise<unknown>) => async () => {
    points += 1;
    const observed = { epochs: new Map(), sent: new Map(), starts: new Map() };
    const swarm = `${run}, seed ${seed}, ${name}`;
    const stage = { real, swarm, inputs: makeSteeredInputs(seed), acknowledged: [], observed };
    await action(stage).catch((error: unknown) => void problems.push(`seed ${seed}, ${name}: ${String(error)}`));
    return !isFirstEnough || problems.length === 0;
  };
  try {
    for (const seed of seeds) {
      let counts = { statements: 0, calls: 0 };
      await runSeveral(1, [
        attempt(seed, 'no fault', async (stage) => {
          counts = await begin(stage, 1, {}).ended();
          await check(stage);
        }),
      ]);
      const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
      const all = [
        ...faults.flatMap((fault) =>
          numbers(counts.statements).map((at) => ({ name: `${fault} ${at}`, planned: { fault: { at, fault } } })),
        ),
        ...numbers(counts.calls).map((at) => ({ name: `kill ${at}`, planned: { killAt: at } })),
      ];
      const chosen = all.filter((_, index) => index % step === seed % step);
      await runSeveral(
        WIDTH,
        chosen.map(({ name, planned }, index) =>
          attempt(seed, name, (stage) => breakTwice(stage, planned, seededRandom(seed, index))),
        ),
      );
      if (isFirstEnough && problems.length > 0) break;
    }
  } finally {
    await real.close();
  }
  return { points, problems };
}

interface Planned {
  readonly fault?: PlannedFault;
  /** The call to its log at which the agent process is killed. */
  readonly killAt?: number;
}

async function breakTwice(stage: Stage, planned: Planned, random: Random): Promise<void> {
  const { real, swarm } = stage;
  const first = begin(stage, 1, planned);
  const isLate = (await first.stopped()) === 'late' && first.node() !== undefined;
  if (!isLate) await first.ended();
  await endLeases(real, swarm);
  const again = random.pick<Fault>(['die before', 'die after', 'cut after']);
  const second = begin(stage, 2, { fault: { at: 1 + random.below(60), fault: again } });
  await second.ended();
  if (isLate) await resume(stage, first);
  await endLeases(real, swarm);
  await begin(stage, 3, {}).ended();
  await check(stage);
}

/** Lets a node continue that has lost its lease and does not know it. It may only accept input. */
async function resume({ real, swarm }: Stage, late: Life): Promise<void> {
  const before = await readRows(real, swarm);
  late.database.resume();
  await late.ended();
  const isOwner = before.owned.some((row) => row.startsWith(`(instance,coder,default,${late.node()?.placement.id},`));
  if (!isOwner) checkUntouched(withoutNew(before), withoutNew(await readRows(real, swarm)));
}

/** Leaves out an instance that nobody has owned: any node may accept its first input. */
function withoutNew(rows: SwarmRowTexts): SwarmRowTexts {
  return { ...rows, owned: rows.owned.filter((row) => !row.startsWith('(instance,coder,default,,0,')) };
}

interface Life {
  readonly database: SimulatedDatabase;
  readonly node: () => SimulatedNode | undefined;
  /** Resolves when the node ends, dies or is late. */
  readonly stopped: () => Promise<'ended' | 'dead' | 'late'>;
  /** Waits for the end or the death of the node. Returns its statements, and the calls of its agent. */
  readonly ended: () => Promise<{ statements: number; calls: number }>;
}

function begin(stage: Stage, life: number, { fault, killAt = 0 }: Planned): Life {
  const { real, swarm, inputs, acknowledged, observed } = stage;
  const database = new SimulatedDatabase(real, fault ? [fault] : []);
  let node: SimulatedNode | undefined;
  let calls = 0;
  const serve = async () => {
    const start = { database, swarm, life, name: `node ${life}`, observed, isReleasing: false, mostBytes: 1 };
    node = await joinSimulated(start).catch(() => joinSimulated(start));
    await node.orchestrator.instances();
    for (let kill = killAt; ; kill = 0) {
      const agent = node.startAgent(kill);
      const { orchestrator } = node;
      const lived = liveSteered({ inputs, acknowledged, orchestrator, agent: agent.turns }).then(
        () => 'lived' as const,
      );
      const how = await Promise.race([lived, agent.killed]);
      calls += agent.calls();
      await database.settled();
      if (how === 'lived') return agent.turns.close();
    }
  };
  // The echo of a claim raises the epoch, so that the node has to claim again. The next life does. A late node is refused.
  const mayBeRefused = fault?.fault === 'echo' || fault?.fault === 'late';
  const served = serve().catch((error: unknown) => {
    // A write that was refused stops the writer: its next write gets another code.
    const refused = GoondanError.is(error) && error.code === 'E_STORE_WRITE' ? error.cause : error;
    if (!mayBeRefused || !GoondanError.is(refused) || refused.code !== 'E_FENCED') throw error;
  });
  const stopped = () => Promise.race([served.then(() => 'ended' as const), database.stopped]);
  return {
    database,
    node: () => node,
    stopped,
    async ended() {
      const how = await stopped();
      if (how === 'late' && node !== undefined) await served;
      await database.settled();
      await database.sendEcho();
      database.kill();
      return { statements: database.statements, calls };
    },
  };
}

async function check({ real, swarm, inputs }: Stage): Promise<void> {
  const { history, inbox } = readersOf(real, swarm);
  const turns = await Array.fromAsync(history.archive(steered));
  const { messages } = await history.read(steered);
  const pending = (await inbox.pendingEntries(steered)).map(({ event }) => event);
  checkSteered(
    { messages, turns, pending },
    inputs.map(({ event }) => event.id),
  );
  await checkCounts(real, swarm);
}
