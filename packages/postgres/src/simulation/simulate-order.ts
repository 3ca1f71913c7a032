/**
 * Two nodes accept input of one instance at the same time, also while a turn runs. The owner is broken at each of its
 * statements, the next owner at a random one, and a third one finishes. All accepted input must be handled once, in the
 * order of its numbers.
 */
import type { AgentEvent } from '@goondan/types';
import { type Random, seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import { messagesOf, simpleEvent, simpleRecords } from '../../../runtime/src/workspace/simulation/simulated-turn.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import { PostgresInbox } from '../store/inbox.ts';
import { readersOf } from '../store/open-reader.ts';
import { codeOf } from '../testing/code-of.ts';
import { checkCounts, endLeases, readRows } from './read-rows.ts';
import { type Fault, faults, type PlannedFault, SimulatedDatabase } from './simulated-database.ts';
import { type Agent, joinSimulated, type Observed, type SimulatedNode } from './simulated-node.ts';

const instance = { agentName: 'coder', instanceKey: 'one' };
const ROUNDS = 3;

/** The client, which outlives the nodes. It sends each event until it is acknowledged. */
interface Client {
  readonly observed: Observed;
  readonly acknowledged: Set<string>;
}

interface Stage {
  readonly real: Database;
  readonly swarm: string;
  readonly client: Client;
}

/** `step`: each how many statements one is broken. Returns the number of points, and the problems. */
export async function simulateOrder(
  address: string,
  step = 1,
): Promise<{ points: number; problems: readonly string[] }> {
  const real = openDatabase(address, { connections: 3 });
  const run = crypto.randomUUID();
  const problems: string[] = [];
  let points = 0;
  const attempt = async (name: string, action: (stage: Stage) => Promise<boolean>): Promise<boolean> => {
    points += 1;
    const observed = { epochs: new Map(), sent: new Map(), starts: new Map() };
    const stage = { real, swarm: `${run}, ${name}`, client: { observed, acknowledged: new Set<string>() } };
    return action(stage).catch((error: unknown) => {
      problems.push(`${name}: ${String(error)}`);
      return false;
    });
  };
  try {
    await attempt('a turn before earlier input', beginEarly);
    for (const [index, fault] of faults.entries()) {
      if (fault === 'late') continue;
      for (let at = 1 + (index % step); ; at += step) {
        const random = seededRandom(at, index);
        if (!(await attempt(`${fault} ${at}`, (stage) => breakTwice(stage, { at, fault }, random)))) break;
      }
    }
  } finally {
    await real.close();
  }
  return { points, problems };
}

/** Returns false if the first life has fewer statements. */
async function breakTwice(stage: Stage, planned: PlannedFault, random: Random): Promise<boolean> {
  const first = await live(stage, 1, [planned]);
  const again = random.pick<Fault>(['die before', 'die after', 'cut after']);
  await live(stage, 2, [{ at: 1 + random.below(30), fault: again }]);
  await live(stage, 3, []);
  await check(stage);
  return first >= planned.at;
}

/** Lives until the end or the fault. Returns the number of statements. */
async function live(stage: Stage, life: number, planned: readonly PlannedFault[]): Promise<number> {
  const { real, swarm, client } = stage;
  await endLeases(real, swarm);
  const database = new SimulatedDatabase(real, planned);
  const serve = async () => {
    const join = () =>
      joinSimulated({
        ...{ database, swarm, life, name: `node ${life}`, observed: client.observed },
        ...{ isReleasing: false, mostBytes: 1 },
      });
    const node = await join().catch(join);
    await node.orchestrator.instances();
    for (let round = 0; round < ROUNDS; round += 1) await serveRound(stage, node, round);
  };
  const served = serve().catch(async (error: unknown) => {
    // The echo of a claim raises the epoch, so that the node has to claim again. The next life does.
    if (planned.some(({ fault }) => fault === 'echo') && (await codeOf(Promise.reject(error))) === 'E_FENCED') return;
    throw error;
  });
  await Promise.race([served, database.stopped]);
  await database.settled();
  await database.sendEcho();
  database.kill();
  return database.statements;
}

async function serveRound({ real, swarm, client }: Stage, node: SimulatedNode, round: number): Promise<void> {
  const other = new PostgresInbox({ database: real, swarm, node: 'other', mayRepeat: () => false });
  const send = async (id: string, accept: (event: AgentEvent) => Promise<unknown>) => {
    if (client.acknowledged.has(id)) return;
    await accept(simpleEvent(id));
    client.acknowledged.add(id);
  };
  const atOwner = (number: number) =>
    send(`e${4 * (3 * round + number)}`, (event) => node.orchestrator.accept(instance, event));
  const atOther = (number: number) => send(`x${3 * round + number}`, (event) => other.accept(instance, event));
  await Promise.all([atOwner(0), atOther(0)]);
  const agent = node.startAgent();
  // The owner hears of no event of the other node by itself, and accepts the next one before or after it.
  await runNext(node, agent, () => Promise.all([atOther(1), atOwner(1)]));
  await runNext(node, agent, () => Promise.all([atOwner(2), atOther(2)]));
  node.onInput(instance);
  while (await runNext(node, agent, async () => undefined));
  await agent.turns.close();
}

/** Runs the turn of the first event in the queue. Returns false if there is none. */
async function runNext(node: SimulatedNode, { turns }: Agent, meanwhile: () => Promise<unknown>): Promise<boolean> {
  const [entry] = await node.orchestrator.pendingEntries(instance);
  if (entry === undefined) {
    await meanwhile();
    return false;
  }
  const turnId = `turn-${entry.event.id}`;
  const { epoch, log, extensionState } = await turns.open(instance, turnId, entry);
  const records = simpleRecords(entry.event.id);
  const left = records.slice(log.length);
  if (left.length > 0) await turns.append(instance, epoch, log.length, left);
  await meanwhile();
  const result = { turnId, finishReason: 'text_response' } as const;
  await turns.commit(
    instance,
    epoch,
    turnId,
    { type: 'append', messages: messagesOf(records) },
    extensionState,
    result,
  );
  return true;
}

interface InputRow extends Readonly<Record<string, unknown>> {
  readonly event_id: string;
}

async function check({ real, swarm, client }: Stage): Promise<void> {
  const rows = await real.query<InputRow>('select event_id from gdn_inbox where swarm = $1 order by seq', [swarm]);
  const numbered = rows.map(({ event_id: id }) => id);
  const turns: string[] = [];
  for await (const { turnId } of readersOf(real, swarm).history.archive(instance)) turns.push(turnId.slice(5));
  if (turns.join() !== numbered.join()) throw new Error(`the input ${numbered.join()} was handled as ${turns.join()}`);
  const lost = [...client.acknowledged].filter((id) => !numbered.includes(id));
  if (lost.length > 0 || client.acknowledged.size !== 6 * ROUNDS) throw new Error(`lost ${lost.join()}`);
  await checkCounts(real, swarm);
}

/** A turn of a later event changes nothing, whether it only begins or is committed by the same statement. */
async function beginEarly({ real, swarm, client }: Stage): Promise<boolean> {
  const { observed } = client;
  const database = new SimulatedDatabase(real);
  const start = { database, swarm, name: 'node 1', observed, isReleasing: false };
  for (const [index, mostBytes] of [1, 256 * 1024].entries()) {
    const node = await joinSimulated({ ...start, mostBytes, life: 1 + index });
    for (const id of ['e0', 'e4']) await node.orchestrator.accept(instance, simpleEvent(id));
    await node.orchestrator.instances();
    const [first, later] = await node.orchestrator.pendingEntries(instance);
    if (first === undefined || later === undefined) throw new Error('the input is not pending');
    const before = await readRows(real, swarm);
    const early = { ...node, orchestrator: { ...node.orchestrator, pendingEntries: async () => [later] } };
    const code = await codeOf(runNext(early, node.startAgent(), async () => undefined));
    if (code !== 'E_STORE_ORDER') throw new Error(`a turn before earlier input ended with ${code ?? 'success'}`);
    const after = await readRows(real, swarm);
    if (after.input.join() !== before.input.join()) throw new Error(`it changed the input to ${after.input.join()}`);
  }
  return true;
}
