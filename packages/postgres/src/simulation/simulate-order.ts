/**
 * Two nodes accept input of one instance at the same time, also while a turn runs. The owner is broken at each of its
 * statements, the other node at each of its accepts, the next owner at a random statement, and a third one finishes. All
 * accepted input must be handled once, in the order of its numbers.
 */
import type { AgentEvent } from '@goondan/types';
import { type Random, seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import { simpleEvent } from '../../../runtime/src/workspace/simulation/simulated-turn.ts';
import { readersOf } from '../store/open-reader.ts';
import { codeOf } from '../testing/code-of.ts';
import { AcceptingNode } from './accepting-node.ts';
import { beginLife, type NodeLife } from './begin-life.ts';
import { checkCounts, checkUntouched, endLeases, readRows } from './read-rows.ts';
import { runNextTurn } from './run-next-turn.ts';
import { listFaults, type Place, runTrials, type TrialsReport } from './run-trials.ts';
import { type Fault, faults, type PlannedFault, SimulatedDatabase } from './simulated-database.ts';
import { joinSimulated, type SimulatedNode } from './simulated-node.ts';

const instance = { agentName: 'coder', instanceKey: 'one' };
const ROUNDS = 3;

interface Stage extends Place {
  /** The events that were acknowledged to the client. It outlives the nodes, and sends each event until then. */
  readonly acknowledged: Set<string>;
}

interface OrderToSimulate {
  /** One of so many points is tried. */
  readonly step?: number;
  readonly isFirstEnough?: boolean;
}

/** Returns the number of points, and the problems. */
export function simulateOrder(
  address: string,
  { step = 1, isFirstEnough = false }: OrderToSimulate = {},
): Promise<TrialsReport> {
  const trial = (name: string, live: (stage: Stage) => Promise<unknown>) => ({
    name,
    run: (place: Place) => live({ ...place, acknowledged: new Set() }),
  });
  const broken = (who: 'owner' | 'other', statements: number) =>
    listFaults(statements).map(({ fault, at }) =>
      trial(`${who}, ${fault} ${at}`, (stage) =>
        breakTwice(stage, { [who]: { at, fault } }, seededRandom(at - 1, faults.indexOf(fault), who.length)),
      ),
    );
  return runTrials(address, { isFirstEnough }, async (tryAll) => {
    let statements = 0;
    const whole = trial('no fault', async (stage) => {
      statements = await begin(stage, 1, {}).ended();
      await check(stage);
    });
    if (!(await tryAll([trial('a turn before earlier input', beginEarly), whole]))) return;
    const all = [...broken('other', 3 * ROUNDS), ...broken('owner', statements)];
    await tryAll(all.filter((_, index) => index % step === 0));
  });
}

/** Faults of the node that owns the instance, and of the one that only accepts input. */
interface Planned {
  readonly owner?: PlannedFault;
  readonly other?: PlannedFault;
}

async function breakTwice(stage: Stage, planned: Planned, random: Random): Promise<void> {
  const first = begin(stage, 1, planned);
  const late = (await first.stopped()) === 'late' && first.node() !== undefined ? first : undefined;
  if (late === undefined) await first.ended();
  const again = random.pick<Fault>(['die before', 'die after', 'cut after']);
  const other = { at: 1 + random.below(3 * ROUNDS), fault: random.pick(faults) };
  await endLeases(stage.real, stage.swarm);
  const second = begin(stage, 2, { owner: { at: 1 + random.below(60), fault: again }, other });
  // The late node continues soon after the second one owns the instance, often before that one has written to the log.
  let wait = random.below(6);
  second.database.beforeStatement = async () => {
    if (second.node()?.placement.owns(instance) && wait-- === 0) await resume(stage, late);
  };
  await second.ended();
  await resume(stage, late);
  await endLeases(stage.real, stage.swarm);
  await begin(stage, 3, {}).ended();
  await check(stage);
}

/** Lets a node continue that has lost its lease and does not know it. It may only accept input. */
async function resume({ real, swarm }: Stage, late: Life | undefined): Promise<void> {
  if (late === undefined || late.isResumed) return;
  late.isResumed = true;
  const before = await readRows(real, swarm);
  late.database.resume();
  await late.ended();
  // If the second node ended before it claimed the instance, the first one still owns it.
  const isOwner = before.owned.some((row) => row.startsWith(`(instance,coder,one,${late.node()?.placement.id},`));
  if (!isOwner) checkUntouched(before, await readRows(real, swarm));
}

interface Life extends NodeLife {
  readonly node: () => SimulatedNode | undefined;
  isResumed: boolean;
}

/** Lives until the end or the fault. */
function begin(stage: Stage, life: number, planned: Planned): Life {
  const { real, swarm, observed, acknowledged } = stage;
  const database = new SimulatedDatabase(real, planned.owner ? [planned.owner] : []);
  const other = new AcceptingNode(real, swarm, observed.sent, planned.other);
  let node: SimulatedNode | undefined;
  const serve = async () => {
    const join = () =>
      joinSimulated({
        ...{ database, swarm, life, name: `node ${life}`, observed },
        ...{ isReleasing: false, mostBytes: 1 },
      });
    node = await join().catch(join);
    await node.orchestrator.instances();
    for (let round = 0; round < ROUNDS; round += 1) await serveRound(acknowledged, node, other, round);
  };
  const lived = beginLife(database, planned.owner, () => node !== undefined, serve);
  const ended = async () => {
    const statements = await lived.ended();
    await other.end();
    return statements;
  };
  return { ...lived, ended, node: () => node, isResumed: false };
}

async function serveRound(
  acknowledged: Set<string>,
  node: SimulatedNode,
  other: AcceptingNode,
  round: number,
): Promise<void> {
  const send = async (id: string, accept: (event: AgentEvent) => Promise<unknown>) => {
    if (acknowledged.has(id)) return;
    await accept(simpleEvent(id));
    acknowledged.add(id);
  };
  const atOwner = (number: number) =>
    send(`e${4 * (3 * round + number)}`, (event) => node.orchestrator.accept(instance, event));
  const atOther = (number: number) => send(`x${3 * round + number}`, (event) => other.accept(instance, event));
  await Promise.all([atOwner(0), atOther(0)]);
  const agent = node.startAgent();
  // The owner hears of no event of the other node by itself, and accepts the next one before or after it.
  await runNextTurn(node, agent, instance, () => Promise.all([atOther(1), atOwner(1)]));
  await runNextTurn(node, agent, instance, () => Promise.all([atOwner(2), atOther(2)]));
  node.onInput(instance);
  while (await runNextTurn(node, agent, instance));
  await agent.turns.close();
}

interface InputRow extends Readonly<Record<string, unknown>> {
  readonly event_id: string;
}

async function check({ real, swarm, acknowledged }: Stage): Promise<void> {
  const rows = await real.query<InputRow>('select event_id from gdn_inbox where swarm = $1 order by seq', [swarm]);
  const numbered = rows.map(({ event_id: id }) => id);
  const turns: string[] = [];
  for await (const { turnId } of readersOf(real, swarm).history.archive(instance)) turns.push(turnId.slice(5));
  if (turns.join() !== numbered.join()) throw new Error(`the input ${numbered.join()} was handled as ${turns.join()}`);
  const lost = [...acknowledged].filter((id) => !numbered.includes(id));
  if (lost.length > 0 || acknowledged.size !== 6 * ROUNDS) throw new Error(`lost ${lost.join()}`);
  await checkCounts(real, swarm);
}

/** A turn of a later event changes nothing, whether it only begins or is committed by the same statement. */
async function beginEarly({ real, swarm, observed }: Place): Promise<void> {
  const database = new SimulatedDatabase(real);
  const start = { database, swarm, name: 'node 1', observed, isReleasing: false };
  for (const [index, mostBytes] of [1, 256 * 1024].entries()) {
    const node = await joinSimulated({ ...start, mostBytes, life: 1 + index });
    for (const id of ['e0', 'e4']) await node.orchestrator.accept(instance, simpleEvent(id));
    await node.orchestrator.instances();
    const [first, later] = await node.orchestrator.pendingEntries(instance);
    if (first === undefined || later === undefined) throw new Error('the input is not pending');
    const before = await readRows(real, swarm);
    const early = { orchestrator: { ...node.orchestrator, pendingEntries: async () => [later] } };
    const code = await codeOf(runNextTurn(early, node.startAgent(), instance));
    if (code !== 'E_STORE_ORDER') throw new Error(`a turn before earlier input ended with ${code ?? 'success'}`);
    const after = await readRows(real, swarm);
    if (after.input.join() !== before.input.join()) throw new Error(`it changed the input to ${after.input.join()}`);
  }
}
