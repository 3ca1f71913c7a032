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
import { readersOf } from '../store/open-reader.ts';
import { beginLife, type NodeLife } from './begin-life.ts';
import { checkCounts, checkUntouched, endLeases, readRows, type SwarmRowTexts } from './read-rows.ts';
import { listFaults, type Place, runTrials, type TrialsReport } from './run-trials.ts';
import { type Fault, type PlannedFault, SimulatedDatabase } from './simulated-database.ts';
import { joinSimulated, type SimulatedNode } from './simulated-node.ts';

interface Stage extends Place {
  readonly inputs: readonly SteeredInput[];
  readonly acknowledged: string[];
}

export interface SteeringToSimulate {
  readonly seeds: readonly number[];
  /** One of so many points is tried. */
  readonly step?: number;
  readonly isFirstEnough?: boolean;
}

/** Returns the number of points, and the problems. */
export function simulateSteering(
  address: string,
  { seeds, step = 1, isFirstEnough = false }: SteeringToSimulate,
): Promise<TrialsReport> {
  return runTrials(address, { isFirstEnough }, async (tryAll) => {
    for (const seed of seeds) {
      const trial = (name: string, live: (stage: Stage) => Promise<unknown>) => ({
        name: `seed ${seed}, ${name}`,
        run: (place: Place) => live({ ...place, inputs: makeSteeredInputs(seed), acknowledged: [] }),
      });
      let statements = 0;
      let calls = 0;
      const measure = async (stage: Stage) => {
        const life = begin(stage, 1, {});
        statements = await life.ended();
        calls = life.calls();
        await check(stage);
      };
      if (!(await tryAll([trial('no fault', measure)]))) return;
      const all: readonly Planned[] = [
        ...listFaults(statements).map((fault) => ({ fault })),
        ...Array.from({ length: calls }, (_, index) => ({ killAt: index + 1 })),
      ];
      const chosen = all.filter((_, index) => index % step === seed % step);
      const trials = chosen.map((planned, index) =>
        trial(nameOf(planned), (stage) => breakTwice(stage, planned, seededRandom(seed, index))),
      );
      if (!(await tryAll(trials))) return;
    }
  });
}

interface Planned {
  readonly fault?: PlannedFault;
  /** The call to its log at which the agent process is killed. */
  readonly killAt?: number;
}

function nameOf({ fault, killAt }: Planned): string {
  return fault === undefined ? `kill ${killAt}` : `${fault.fault} ${fault.at}`;
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

interface Life extends NodeLife {
  readonly node: () => SimulatedNode | undefined;
  /** The number of calls of its agents to their log. */
  readonly calls: () => number;
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
  const serveOrRefuse = () =>
    serve().catch((error: unknown) => {
      // A write that was refused stops the writer: its next write gets another code.
      throw GoondanError.is(error) && error.code === 'E_STORE_WRITE' ? error.cause : error;
    });
  const lived = beginLife(database, fault, () => node !== undefined, serveOrRefuse);
  return { ...lived, node: () => node, calls: () => calls };
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
