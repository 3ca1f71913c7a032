/**
 * Runs one workload on a swarm in PostgreSQL, breaks its first node at one statement, breaks the second node at a random
 * statement of the recovery, lets a third one finish, and checks the result. The same point is always the same.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { checkKept } from '../../../runtime/src/workspace/simulation/check.ts';
import { type Life, serve } from '../../../runtime/src/workspace/simulation/live.ts';
import { type Random, seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import { makeWorkload, type Workload } from '../../../runtime/src/workspace/simulation/workload.ts';
import { losePower, momentOf, newWorld, type World, worldAt } from '../../../runtime/src/workspace/simulation/world.ts';
import type { Database } from '../driver/database.ts';
import { postgresAnswers } from '../store/answers.ts';
import { readersOf } from '../store/open-reader.ts';
import { actWithoutLease, notices } from './act-without-lease.ts';
import { checkCounts, checkUntouched, endLeases, readRows } from './read-rows.ts';
import { type Fault, type PlannedFault, SimulatedDatabase } from './simulated-database.ts';
import { joinSimulated, type NodeToJoin, type Observed, type SimulatedNode } from './simulated-node.ts';

export interface Point {
  readonly seed: number;
  /** The number of the statement, or with `kill` of the call to the log, from 1 on. */
  readonly at: number;
  /** `kill`: only the agent process ends. */
  readonly fault: Fault | 'kill';
}

/** The place of one point. Every point has a swarm of its own. */
interface Stage {
  readonly real: Database;
  readonly swarm: string;
  readonly workload: Workload;
  readonly observed: Observed;
  readonly random: Random;
}

/** One node with its life. */
interface Run {
  readonly database: SimulatedDatabase;
  readonly life: { inputs: number; world: World } & Omit<Life, 'inputs' | 'world'>;
  readonly ended: Promise<'ended' | 'refused'>;
  node(): SimulatedNode | undefined;
  /** The number of calls of the agent to its log. */
  calls(): number;
}

const MOST_BYTES = 256 * 1024;

/** The statements of an undisturbed life, and the calls of its agent to the log. Checks the life, too. */
export async function measure(
  real: Database,
  swarm: string,
  seed: number,
): Promise<{ statements: number; calls: number }> {
  const stage = stageOf(real, swarm, { seed, at: 0, fault: 'die before' });
  const run = begin(stage, 1, newWorld(), stage.workload.inputs.length, []);
  if ((await run.ended) !== 'ended') throw new Error('the node was refused without a fault');
  await check(stage, run.life.world);
  return { statements: run.database.statements, calls: run.calls() };
}

/** Returns the problem at a point, or `undefined`. */
export async function simulatePoint(real: Database, swarm: string, point: Point): Promise<string | undefined> {
  const stage = stageOf(real, swarm, point);
  try {
    await breakTwice(stage, point);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

function stageOf(real: Database, swarm: string, { seed, at, fault }: Point): Stage {
  const random = seededRandom(seed, at, fault.length, fault.charCodeAt(0), fault.charCodeAt(4));
  const observed = { epochs: new Map(), sent: new Map(), starts: new Map() };
  return { real, swarm, workload: makeWorkload(seed), observed, random };
}

async function breakTwice(stage: Stage, point: Point): Promise<void> {
  const { real, swarm, workload, random } = stage;
  const { at, fault } = point;
  const isKill = fault === 'kill';
  const isCut = fault.startsWith('cut') || fault === 'echo';
  // A node that is only cut off goes on, and dies a little later.
  const dies = { at: at + 1 + random.below(25), fault: random.pick(['die before', 'die after'] as const) };
  const planned = isKill ? [] : isCut ? [{ at, fault }, dies] : [{ at, fault }];
  const first = begin(stage, 1, newWorld(), workload.inputs.length, planned, isKill ? at : 0);
  const stopped = await Promise.race([first.ended, first.database.stopped]);
  await first.database.settled();
  await first.database.sendEcho();
  // A node that is late while it joins has nothing to lose yet.
  if (stopped === 'late' && first.node()) return takeOver(stage, first);
  if (stopped === 'refused') throw new Error('the node was refused while its lease was valid');
  first.database.kill();
  first.node()?.forget(workload.instances);

  const world = losePower(first.life.world);
  const more = random.chance(0.25) ? 1 : 0;
  if (random.chance(0.5)) await endLeases(real, swarm);
  const name = random.chance(0.5) ? undefined : 'node 1';
  if (name === undefined) await endLeases(real, swarm);
  const again = {
    at: 1 + random.below(40),
    fault: random.pick(['die before', 'die after', 'cut after', 'echo'] as const),
  };
  const second = begin(stage, 2, world, sentBy(world) + more, [again], 0, name);
  const how = await Promise.race([second.ended, second.database.stopped]);
  await second.database.settled();
  await second.database.sendEcho();
  if (how === 'refused') throw new Error('the second node was refused while its lease was valid');
  second.database.kill();
  second.node()?.forget(workload.instances);

  await finish(stage, losePower(second.life.world));
}

/** Another node takes over while the first one is late. Then the first one continues, and must change nothing. */
async function takeOver(stage: Stage, late: Run): Promise<void> {
  const { real, swarm, workload, random } = stage;
  const world = losePower(copyOf(late.life.world));
  late.life.inputs = sentBy(world);
  const kept = await turnsIn(stage);
  const database = new SimulatedDatabase(real);
  const node = await joinSimulated(nodeOf(stage, 2, database));
  if (node.lease !== undefined && late.node()?.lease !== undefined) throw new Error('two nodes have the connection');
  for (const instance of workload.instances) {
    const isTaken = late.node()?.placement.owns(instance) === true && (await node.placement.claimHeard(instance));
    if (isTaken) throw new Error(`two nodes own ${instance.instanceKey}`);
  }
  await endLeases(real, swarm, node.placement.id);
  for (const instance of workload.instances) {
    if (!(await node.claim(instance))) throw new Error(`${instance.instanceKey} was not taken over`);
  }
  await node.claimConnection();

  let isResumed = false;
  const resume = async () => {
    if (isResumed) return;
    isResumed = true;
    const before = await readRows(real, swarm);
    const moment = momentOf(late.life.world);
    const connected = late.node()?.connected.length;
    late.database.resume();
    await late.ended;
    await late.database.settled();
    const old = late.node();
    if (old) await actWithoutLease(old, workload.instances, random.pick(notices));
    checkUntouched(before, await readRows(real, swarm));
    const after = late.life.world;
    if (old?.connected.length !== connected)
      throw new Error('an event was accepted under an old lease of the connection');
    const said = (list: 'committed' | 'statesKept' | 'resets') => after[list].slice(moment[list]);
    const wrong = [...said('committed').filter((id) => !kept.has(id)), ...said('statesKept'), ...said('resets')];
    if (wrong.length > 0) throw new Error(`a node without its lease says that it has done ${wrong.join(', ')}`);
    world.effects.push(...after.effects.slice(moment.effects).filter((name) => !name.startsWith('reset ')));
    world.fetched.push(...after.fetched.slice(moment.fetched));
    late.database.kill();
    old?.forget(workload.instances);
  };
  const resumeAt = database.statements + 1 + random.below(25);
  database.beforeStatement = async (statement) => {
    if (statement >= resumeAt) await resume();
  };
  const inputs = sentBy(world) + (random.chance(0.5) ? 1 : 0);
  const life = { workload, world, inputs, isWatched: false };
  await serve(node.orchestrator, node.startAgent().turns, life);
  await resume();
  // The owner can still write.
  await serve(node.orchestrator, node.startAgent().turns, { ...life, inputs: inputs + 1 });
  node.forget(workload.instances);
  database.kill();
  await finish(stage, losePower(world));
}

async function finish(stage: Stage, world: World): Promise<void> {
  await endLeases(stage.real, stage.swarm);
  const inputs = sentBy(world) + (stage.random.chance(0.6) ? 1 : 0);
  const last = begin(stage, 3, world, inputs, []);
  if ((await last.ended) !== 'ended') throw new Error('the last node was refused');
  await check(stage, last.life.world);
}

/** Starts a node and its life. */
function begin(
  stage: Stage,
  number: number,
  world: World,
  inputs: number,
  planned: readonly PlannedFault[],
  killAt = 0,
  name?: string,
): Run {
  const database = new SimulatedDatabase(stage.real, planned);
  const life = { workload: stage.workload, world, inputs, isWatched: false };
  let node: SimulatedNode | undefined;
  let calls = 0;
  const run = async () => {
    node = await join(nodeOf(stage, number, database, name));
    for (let attempt = 0, kill = killAt; ; attempt += 1, kill = 0) {
      const agent = node.startAgent(kill);
      const served = await Promise.race([serve(node.orchestrator, agent.turns, life), agent.killed]).catch(refusal);
      calls += agent.calls();
      await database.settled();
      if (served === undefined) {
        await agent.turns.close();
        return 'ended' as const;
      }
      if (served === 'killed') continue;
      // The echo of a claim raises the epoch: the node has to claim its instances again.
      const isEcho = planned.some(({ fault }) => fault === 'echo') && attempt < 3;
      if (!isEcho) return 'refused' as const;
      node.lose(stage.workload.instances, served);
      await node.claimConnection();
      life.world = losePower(life.world);
    }
  };
  return { database, life, ended: run(), node: () => node, calls: () => calls };
}

/** Joins as `gdn run` does, which tries again while the store is away. */
async function join(start: NodeToJoin): Promise<SimulatedNode> {
  for (;;) {
    try {
      return await joinSimulated(start);
    } catch (error) {
      if (!GoondanError.is(error) || error.code !== 'E_STORE_AWAY') throw error;
    }
  }
}

function refusal(error: unknown): GoondanError {
  // A checkpoint that was refused stops the writer: its next write gets another code.
  const refused = GoondanError.is(error) && error.code === 'E_STORE_WRITE' ? error.cause : error;
  if (GoondanError.is(refused) && refused.code === 'E_FENCED') return refused;
  throw error;
}

function nodeOf(
  { swarm, workload, observed }: Stage,
  life: number,
  database: SimulatedDatabase,
  name = `node ${life}`,
): NodeToJoin {
  const { seed } = workload;
  const mostBytes = seed % 3 === 0 ? 1 : MOST_BYTES;
  return { database, swarm, name, observed, life, isReleasing: seed % 4 === 1, mostBytes };
}

/** Checks what readers show, and the rows. */
async function check({ real, swarm, workload }: Stage, world: World): Promise<void> {
  const readers = readersOf(real, swarm);
  const answers = postgresAnswers({ database: real, swarm, node: 'check', mayRepeat: () => false });
  const kept = {
    ...readers.history,
    summary: (instance: AgentAddress) => readers.directory.summary(instance),
    deadLetters: readers.deadLetters,
    answers: async (instance: AgentAddress) =>
      (await answers.left(instance)).map(({ eventId, result }) => ({ key: `turn-${eventId}`, result })),
  };
  await checkKept(kept, workload, world);
  await checkCounts(real, swarm);
}

/** Returns the ids of the committed turns. */
async function turnsIn({ real, swarm, workload }: Stage): Promise<ReadonlySet<string>> {
  const turns = new Set<string>();
  const { history } = readersOf(real, swarm);
  for (const instance of workload.instances) {
    for await (const { turnId } of history.archive(instance)) turns.add(turnId);
  }
  return turns;
}

/** The number of inputs that were sent, acknowledged or not. */
function sentBy({ sent }: World): number {
  return new Set(sent).size;
}

function copyOf(world: World): World {
  return worldAt(world, momentOf(world));
}
