/**
 * Model calls that nodes count against budgets, on nodes that are broken at each of their statements. Another node makes calls
 * between these statements. Each point is followed by a second fault, by a node that comes late and was thought to be lost,
 * and by a node that uses up the budgets.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import { PostgresCounters } from '../store/counters.ts';
import { type CallsByName, checkCalls, counted, countedBeside, makeCall, makeCalls } from './counted-calls.ts';
import { endLeases } from './read-rows.ts';
import { runSeveral } from './run-several.ts';
import { type Fault, faults, type PlannedFault, SimulatedDatabase } from './simulated-database.ts';
import { joinSimulated, type Observed } from './simulated-node.ts';

/** The number of points at a time. */
const WIDTH = 6;
/** The node beside makes a call before one of so many statements, so that it comes between a read and a write, too. */
const BESIDE_EACH = 3;
/** The number of the node beside. */
const BESIDE = 9;

interface Stage {
  readonly real: Database;
  readonly swarm: string;
  readonly seed: number;
  readonly calls: CallsByName;
  readonly observed: Observed;
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
export async function simulateCounters(
  address: string,
  { seeds, step = 1, isFirstEnough = false }: CountersToSimulate,
): Promise<{ points: number; problems: readonly string[] }> {
  const real = openDatabase(address, { connections: WIDTH });
  const run = crypto.randomUUID();
  const problems: string[] = [];
  let points = 0;
  const attempt = (seed: number, name: string, action: (stage: Stage) => Promise<unknown>) => async () => {
    points += 1;
    const observed = { epochs: new Map(), sent: new Map(), starts: new Map() };
    const stage = { real, swarm: `${run}, seed ${seed}, ${name}`, seed, calls: new Map(), observed, newest: 0 };
    await action(stage).catch((error: unknown) => void problems.push(`seed ${seed}, ${name}: ${String(error)}`));
    return !isFirstEnough || problems.length === 0;
  };
  try {
    for (const seed of seeds) {
      let statements = 0;
      const measure = async (stage: Stage) => {
        const beside = await joinBeside(stage);
        statements = await begin(stage, { life: 1, beside }).ended();
        await finish(stage, beside);
      };
      await runSeveral(1, [attempt(seed, 'no fault', measure)]);
      const all = faults.flatMap((fault) =>
        Array.from({ length: statements }, (_, index) => ({ fault, at: index + 1 })),
      );
      const trials = all
        .filter((_, index) => index % step === seed % step)
        .map((planned, index) =>
          attempt(seed, `${planned.fault} ${planned.at}`, (stage) => breakTwice(stage, planned, index)),
        );
      if (problems.length === 0 || !isFirstEnough) await runSeveral(WIDTH, trials);
      if (isFirstEnough && problems.length > 0) break;
    }
  } finally {
    await real.close();
  }
  return { points, problems };
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

interface Life {
  readonly database: SimulatedDatabase;
  readonly hasJoined: () => boolean;
  /** Resolves when the node ends, dies or is late. */
  readonly stopped: () => Promise<'ended' | 'dead' | 'late'>;
  /** Waits for the end or the death of the node. Returns its statements. */
  readonly ended: () => Promise<number>;
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
  // The echo of a claim raises the epoch, and a late node has lost its lease: both are refused, and the next life goes on.
  const mayBeRefused = fault?.fault === 'echo' || fault?.fault === 'late';
  const served = serve().catch((error: unknown) => {
    if (!mayBeRefused || !GoondanError.is(error) || error.code !== 'E_FENCED') throw error;
  });
  const stopped = () => Promise.race([served.then(() => 'ended' as const), database.stopped]);
  return {
    database,
    hasJoined: () => hasJoined,
    stopped,
    async ended() {
      if ((await stopped()) === 'late' && hasJoined) await served;
      await database.settled();
      await database.sendEcho();
      database.kill();
      return database.statements;
    },
  };
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
