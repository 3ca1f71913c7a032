/**
 * Model calls that nodes count against budgets, on nodes that are broken at each of their statements. Another node makes calls
 * between these statements. Each point is followed by a second fault, by a node that comes late and was thought to be lost,
 * and by a node that uses up the budgets.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import { PostgresCounters } from '../store/counters.ts';
import { type CallsByName, checkCalls, counted, countedBeside, makeCall, makeCalls } from './counted-calls.ts';
import { beginLife, type NodeLife } from './begin-life.ts';
import { endLeases } from './read-rows.ts';
import { listFaults, type Place, runTrials, type TrialsReport } from './run-trials.ts';
import { type Fault, type PlannedFault, SimulatedDatabase } from './simulated-database.ts';
import { joinSimulated } from './simulated-node.ts';

/** The node beside makes a call before one of so many statements, so that it comes between a read and a write, too. */
const BESIDE_EACH = 3;
/** The number of the node beside. */
const BESIDE = 9;

interface Stage extends Place {
  readonly seed: number;
  readonly calls: CallsByName;
  /** The newest node; 0 when its lease has ended. The leases of all earlier ones have ended. */
  newest: number;
}

export interface CountersToSimulate {
  readonly seeds: readonly number[];
  /** One of so many points is tried. */
  readonly step?: number;
  readonly isFirstEnough?: boolean;
}

/** Returns the number of points, and the problems. */
export function simulateCounters(
  address: string,
  { seeds, step = 1, isFirstEnough = false }: CountersToSimulate,
): Promise<TrialsReport> {
  return runTrials(address, { isFirstEnough }, async (tryAll) => {
    for (const seed of seeds) {
      const trial = (name: string, live: (stage: Stage) => Promise<unknown>) => ({
        name: `seed ${seed}, ${name}`,
        run: (place: Place) => live({ ...place, seed, calls: new Map(), newest: 0 }),
      });
      let statements = 0;
      const measure = async (stage: Stage) => {
        const beside = await joinBeside(stage);
        statements = await begin(stage, { life: 1, beside }).ended();
        await finish(stage, beside);
      };
      if (!(await tryAll([trial('no fault', measure)]))) return;
      const chosen = listFaults(statements).filter((_, index) => index % step === seed % step);
      const trials = chosen.map((planned, index) =>
        trial(`${planned.fault} ${planned.at}`, (stage) => breakTwice(stage, planned, index)),
      );
      if (!(await tryAll(trials))) return;
    }
  });
}

async function breakTwice(stage: Stage, planned: PlannedFault, index: number): Promise<void> {
  const { real, swarm, seed } = stage;
  const random = seededRandom(seed, index);
  const beside = await joinBeside(stage);
  const first = begin(stage, { life: 1, beside, fault: planned });
  // A node that is late before it has joined has no lease to lose.
  const isLate = (await first.stopped()) === 'late' && first.hasJoined();
  if (!isLate) await first.ended();
  await endLeases(real, swarm, beside.id);
  stage.newest = 0;
  const fault = random.pick<Fault>(['die before', 'die after', 'cut after', 'echo']);
  // After every second late node, nobody claims the conversation: then only the lease refuses its writes.
  if (!isLate || index % 2 === 0) {
    await begin(stage, { life: 2, beside, fault: { fault, at: 1 + random.below(40) } }).ended();
  }
  if (isLate) {
    first.database.resume();
    await first.ended();
  }
  await finish(stage, beside);
}

/** Lets a node use up the budgets, and another one look at them. */
async function finish(stage: Stage, beside: Beside): Promise<void> {
  await endLeases(stage.real, stage.swarm);
  beside.end();
  await begin(stage, { life: 3, isLast: true }).ended();
  await endLeases(stage.real, stage.swarm);
  const database = new SimulatedDatabase(stage.real);
  await checkCalls((await joinCounting(stage, database, 4, counted)).counters, stage.calls, true);
  database.kill();
}

/** A node that makes calls while others are broken. */
interface Beside {
  readonly id: string;
  makeCall(): Promise<void>;
  end(): void;
}

async function joinBeside(stage: Stage): Promise<Beside> {
  const database = new SimulatedDatabase(stage.real);
  const { counters, id } = await joinCounting(stage, database, BESIDE, countedBeside);
  const asked = { seed: stage.seed, life: BESIDE, hasLease: () => true };
  let made = 0;
  return {
    id,
    makeCall: async () => void (await makeCall(counters, countedBeside, stage.calls, asked, made++)),
    end: () => database.kill(),
  };
}

interface Life extends NodeLife {
  readonly hasJoined: () => boolean;
}

interface LifeToBegin {
  readonly life: number;
  readonly fault?: PlannedFault;
  readonly beside?: Beside;
  readonly isLast?: boolean;
}

function begin(stage: Stage, { life, fault, beside, isLast = false }: LifeToBegin): Life {
  const database = new SimulatedDatabase(stage.real, fault ? [fault] : []);
  database.beforeStatement = async (number) => {
    if (number % BESIDE_EACH === 0) await beside?.makeCall();
  };
  stage.newest = life;
  const hasLease = () => stage.newest === life;
  let hasJoined = false;
  const serve = async () => {
    const { counters } = await joinCounting(stage, database, life, counted, () => (hasJoined = true));
    await makeCalls(counters, stage.calls, { seed: stage.seed, life, isLast, hasLease });
    await counters.close();
  };
  return { ...beginLife(database, fault, () => hasJoined, serve), hasJoined: () => hasJoined };
}

async function joinCounting(
  stage: Stage,
  database: SimulatedDatabase,
  life: number,
  owned: AgentAddress,
  joined: () => void = () => undefined,
) {
  const { swarm, observed } = stage;
  const start = { database, swarm, life, name: `node ${life}`, observed, isReleasing: false, mostBytes: 1 };
  const { placement, claim } = await joinSimulated(start).catch(() => joinSimulated(start));
  joined();
  if (!(await claim(owned))) throw new GoondanError('E_FENCED', 'Another node has the conversation.');
  const context = { database, swarm, node: placement.id, mayRepeat: placement.mayRepeat };
  const counters = new PostgresCounters(context, { epochOf: (instance) => placement.epochOf(instance) });
  return { counters, id: placement.id };
}
