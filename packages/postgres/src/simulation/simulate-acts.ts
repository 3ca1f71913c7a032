/**
 * Acts on whole instances and on the log, which no workload has, and the statements with a fence. Each act is broken at each of its statements. Then another
 * node repeats it, or has taken over before the act goes on.
 */
import { addressKey } from '@goondan/runtime/internal';
import { createUserMessage } from '@goondan/types';
import { runSimpleTurn, simpleEvent } from '../../../runtime/src/workspace/simulation/simulated-turn.ts';
import { type Database, openDatabase } from '../driver/database.ts';
import { codeOf } from '../testing/code-of.ts';
import { checkUntouched, endLeases, readRows, type SwarmRowTexts } from './read-rows.ts';
import { runNextTurn } from './run-next-turn.ts';
import { runSeveral } from './run-several.ts';
import { type Fault, faults, SimulatedDatabase } from './simulated-database.ts';
import { joinSimulated, type Observed, type SimulatedNode } from './simulated-node.ts';

const instance = { agentName: 'coder', instanceKey: 'one' };
const forked = { agentName: 'coder', instanceKey: 'two' };
const unclaimed = { agentName: 'coder', instanceKey: 'three' };

interface Act {
  readonly run: (node: SimulatedNode) => Promise<unknown>;
  /** The code of the error when an earlier attempt has succeeded. */
  readonly done?: string;
  /** Throws unless the act has happened once, completely. */
  readonly check: (rows: SwarmRowTexts) => void;
  /** If true, every node may do it. */
  readonly isOfAnyNode?: true;
}

/** The number of acts at a time. */
const WIDTH = 6;

const acts: Readonly<Record<string, Act>> = {
  delete: {
    run: ({ admin }) => admin.delete(instance, { force: true }),
    done: 'E_INSTANCE_UNKNOWN',
    check: ({ owned }) =>
      expect(owned.filter((row) => row.includes(`,${instance.instanceKey},`)).length === 0, 'is gone'),
  },
  fork: {
    run: ({ admin }) => admin.fork(instance, { as: forked.instanceKey }),
    done: 'E_INSTANCE_EXISTS',
    check({ owned }) {
      const frames = owned.filter((row) => row.startsWith(`(frame,coder,${forked.instanceKey},`));
      expect(frames.length === 2, 'has the frames of a fork');
    },
    isOfAnyNode: true,
  },
  reset: {
    run: ({ admin }) => admin.reset(instance),
    check: ({ owned }) =>
      expect(
        owned.some((row) => row.startsWith('(frame,coder,one,') && row.includes('reset')),
        'is reset',
      ),
  },
  folder: {
    run: async ({ lease }) => lease?.writeFolder(Buffer.from('new')),
    check: ({ owned }) =>
      expect(
        owned.some((row) => row.startsWith('(connection,') && row.includes('6e6577')),
        'has files',
      ),
  },
  turn: {
    async run(node) {
      node.onInput(instance);
      await runNextTurn(node, node.startAgent(), instance);
    },
    check({ input, answers }) {
      expect(input.filter((row) => row.includes(',e4,') && row.endsWith(',f)')).length === 1, 'ends its input');
      expect(answers.filter((row) => row.includes(',e4,')).length === 1, 'has one answer');
    },
  },
  // Under the lease of the connection, also for an instance that no node owns.
  accept: {
    run: ({ orchestrator }) => orchestrator.accept(unclaimed, simpleEvent('e1')),
    check({ input }) {
      const accepted = input.filter((row) => row.includes(unclaimed.instanceKey));
      expect(accepted.length === 1, `is accepted once, and not as ${accepted.join()}`);
    },
  },
};

/** Tries every `step`-th statement. Returns the number of points, and the problems; with `isFirstEnough`, only the first. */
export async function simulateActs(
  address: string,
  { isFirstEnough = false, step = 1 } = {},
): Promise<{ points: number; problems: readonly string[] }> {
  const real = openDatabase(address, { connections: WIDTH });
  const problems: string[] = [];
  const run = crypto.randomUUID();
  let points = 0;
  const attempt = async (name: string, action: () => Promise<unknown>): Promise<unknown> => {
    points += 1;
    return action().catch((error: unknown) => void problems.push(`${name}: ${String(error)}`));
  };
  try {
    const breakEverywhere = async (name: string, act: Act, fault: Fault) => {
      // Each fault begins at another statement, so that together they reach every one.
      for (let at = 1 + (faults.indexOf(fault) % step); ; at += step) {
        const point = `${name}, ${fault} ${at}`;
        if (!(await attempt(point, () => breakAct(real, `${run}, ${point}`, act, { at, fault })))) return;
      }
    };
    const actions = [
      () => attempt('a number that is taken', () => reuseNumber(real, `${run}, numbers`)),
      () => attempt('a checkpoint before the last frame', () => checkpointEarly(real, `${run}, checkpoint`)),
      // The fences come first, because most mutants break one.
      ...faults.toReversed().flatMap((fault) =>
        Object.entries(acts).map(
          ([name, act]) =>
            () =>
              breakEverywhere(name, act, fault),
        ),
      ),
    ];
    const goesOn = (action: () => Promise<unknown>) => async () => {
      await action();
      return !isFirstEnough || problems.length === 0;
    };
    await runSeveral(WIDTH, actions.map(goesOn));
  } finally {
    await real.close();
  }
  return { points, problems };
}

/** Breaks an act at a statement. Returns false if the act has fewer statements. */
async function breakAct(
  real: Database,
  swarm: string,
  act: Act,
  { at, fault }: { readonly at: number; readonly fault: Fault },
): Promise<boolean> {
  const observed: Observed = { epochs: new Map(), sent: new Map(), starts: new Map() };
  const before = await prepare(real, swarm, observed);
  await endLeases(real, swarm);
  // The node joins and claims undisturbed.
  const quiet = new SimulatedDatabase(real);
  const node = await joinNode(quiet, swarm, observed, 1);
  await node.claim(instance);
  const database = new SimulatedDatabase(real, [{ at, fault }]);
  quiet.query = (statement, values) => database.query(statement, values);
  const running = codeOf(act.run(node));
  // A checkpoint after the end of a turn is written in the background.
  const ended = running.then(() => database.settled()).then(() => 'ended' as const);
  const stopped = await Promise.race([ended, database.stopped]);
  await database.sendEcho();
  if (stopped === 'late') {
    await endLeases(real, swarm);
    const next = await joinNode(new SimulatedDatabase(real), swarm, observed, 2);
    expect(await next.claim(instance), 'is taken over');
    const taken = await readRows(real, swarm);
    const isOver = await Promise.race([running.then(() => true), Bun.sleep(0).then(() => false)]);
    database.resume();
    const code = await running;
    await database.settled();
    if (act.isOfAnyNode) return true;
    const left = await readRows(real, swarm);
    checkUntouched(taken, left);
    expect(left.input.length === taken.input.length, 'adds no input');
    expect(isOver || code === 'E_FENCED', `is refused, and not ${code}`);
    return true;
  }
  const isThere = database.statements >= at;
  if (stopped === 'dead') {
    const rows = await readRows(real, swarm);
    const left = countRows(rows);
    expect(left === 0 || left >= before, 'exists completely or not at all');
    await endLeases(real, swarm);
    const next = await joinNode(new SimulatedDatabase(real), swarm, observed, 2);
    if (left > 0) await next.claim(instance);
    const code = await codeOf(act.run(next));
    expect(code === undefined || code === act.done, `can be repeated, and not ${code}`);
  } else {
    const code = await running;
    expect(code === undefined, `succeeds after a cut, and not ${code}`);
  }
  act.check(await readRows(real, swarm));
  return isThere;
}

/** Makes an instance with two turns and pending input. Returns the number of its rows. */
async function prepare(real: Database, swarm: string, observed: Observed): Promise<number> {
  const node = await joinNode(new SimulatedDatabase(real), swarm, observed, 0);
  const { turns } = node.startAgent();
  for (const id of ['e0', 'e2']) {
    await node.orchestrator.accept(instance, simpleEvent(id));
    await runSimpleTurn({ ...turns, pendingEntries: node.orchestrator.pendingEntries }, instance, id);
  }
  const replyTo = { target: 'client', correlationId: 'e4' };
  await node.orchestrator.accept(instance, simpleEvent('e4', { replyTo }));
  await turns.close();
  return countRows(await readRows(real, swarm));
}

/** Counts the rows of the instance, besides its own one, which a claim makes, too. */
function countRows({ owned, input, answers }: SwarmRowTexts): number {
  const isOwn = (row: string) => /^\((?:(?:frame|base|archive),)?coder,one,/.test(row);
  return [...owned, ...input, ...answers].filter(isOwn).length;
}

/** A frame whose number another one has is refused, unless it is the same frame. */
async function reuseNumber(real: Database, swarm: string): Promise<void> {
  const { log, epoch } = await openLog(real, swarm);
  const frame = { seq: 1, last: 1, line: 'a', isDurable: true };
  await log.append(instance, epoch, frame);
  expect((await codeOf(log.append(instance, epoch, frame))) === undefined, 'takes the same frame again');
  const code = await codeOf(log.append(instance, epoch, { ...frame, line: 'b' }));
  expect(code === 'E_FENCED', `refuses another frame of the same number, and not ${code}`);
}

/** A checkpoint leaves the frames after its number. */
async function checkpointEarly(real: Database, swarm: string): Promise<void> {
  const { log, epoch } = await openLog(real, swarm);
  for (const seq of [1, 2, 3]) await log.append(instance, epoch, { seq, last: seq, line: `${seq}`, isDurable: true });
  const lines = `${JSON.stringify(createUserMessage('hello'))}\n`;
  await log.putCheckpoint(instance, epoch, { seq: 2, text: '{}', base: { type: 'append', lines } });
  const { frames, base } = await log.load(instance);
  expect(frames.join() === '3', `leaves frame 3, and not ${frames.join()}`);
  expect(base.join('') === lines, 'keeps the base');
}

async function openLog(real: Database, swarm: string) {
  const observed: Observed = { epochs: new Map(), sent: new Map(), starts: new Map() };
  const node = await joinNode(new SimulatedDatabase(real), swarm, observed, 1);
  await node.claim(instance);
  return { log: node.log, epoch: observed.epochs.get(addressKey(instance)) ?? 0 };
}

function joinNode(
  database: SimulatedDatabase,
  swarm: string,
  observed: Observed,
  life: number,
): Promise<SimulatedNode> {
  const name = `node ${life}`;
  return joinSimulated({ database, swarm, name, observed, life, isReleasing: false, mostBytes: 1 });
}

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`expected that it ${what}`);
}
