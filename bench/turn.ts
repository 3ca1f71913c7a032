/**
 * Measures a whole turn on a model that answers at once, with our runtime and with the AI SDK. Every step except the
 * last has one tool call. A sample is a new conversation: one turn that is not measured, then a few that are.
 */
import { bareSyncs } from './bare-syncs.ts';
import { type CountingFs, countPer, type DiskCounts, describeCounts } from './counting-fs.ts';
import { type BenchAgent, durableAgent, memoryAgent, withDisk } from './durable-agent.ts';
import type { Figures } from './figures.ts';
import { type Contestant, measure, printTimings, type Timing } from './measure.ts';
import { sdkTurns } from './sdk-turns.ts';

const COUNTED_TURNS = 10;

export async function benchTurn(): Promise<Figures> {
  return { ...(await turnsOf(1)), ...(await turnsOf(10)) };
}

async function turnsOf(steps: number): Promise<Figures> {
  const options = { operations: steps === 1 ? 10 : 3, warmUps: 400 };
  const what = `a turn of ${steps} step${steps === 1 ? '' : 's'}`;
  const { apart, counts } = await withDisk({ syncs: 'left out' }, async (journal, fs) => {
    const start = () => durableAgent(journal, { steps });
    const contestants = [
      sdkTurns(steps, 'prompt alone'),
      sdkTurns(steps, 'with its history'),
      talking('goondan, in memory', () => memoryAgent(steps)),
      talking('goondan, durable, syncs apart', start),
    ];
    const timings = await measure(contestants, options);
    return { apart: timings, counts: await countTurns(fs, await opened(await start())) };
  });
  printTimings(what, apart, 'ratio to generateText; goondan masks 2 secrets, the AI SDK masks none');
  console.log(`  a durable turn makes ${describeCounts(counts)}`);
  // Contestants that sync are apart from those that do not: a sync also writes out the files of others.
  const synced = await withDisk({ syncs: 'real' }, async (journal) => {
    const bare = await bareSyncs(Math.round(counts.syncs));
    const durable = talking('goondan, durable, real syncs', () => durableAgent(journal, { steps }));
    const timings = await measure([durable, bare.appended, bare.intoRoom], options);
    await bare.close();
    return timings;
  });
  printTimings(`${what}, with real syncs`, synced, 'ratio to the turn');
  return figuresOf(steps, { apart, synced, counts });
}

async function countTurns(fs: CountingFs, agent: BenchAgent): Promise<DiskCounts> {
  const counts = await countPer(fs, COUNTED_TURNS, () => agent.turn());
  await agent.close();
  return counts;
}

/** Starts a new conversation before each sample, and runs its first turn. */
export function talking(name: string, start: () => Promise<BenchAgent>): Contestant {
  let agent: BenchAgent | undefined;
  return {
    name,
    async begin() {
      await agent?.close();
      agent = await opened(await start());
    },
    run: () => agent?.turn(),
  };
}

async function opened(agent: BenchAgent): Promise<BenchAgent> {
  await agent.turn();
  return agent;
}

interface MeasuredTurns {
  readonly apart: readonly Timing[];
  readonly synced: readonly Timing[];
  readonly counts: DiskCounts;
}

function figuresOf(steps: number, { apart, synced, counts }: MeasuredTurns): Figures {
  const [sdk = Number.NaN, , memory = Number.NaN, durable = Number.NaN] = apart.map(({ median }) => median);
  const [turn = Number.NaN, ...bare] = synced.map(({ median }) => median);
  return {
    [`turn.${steps}.memory`]: memory / sdk,
    [`turn.${steps}.apart`]: durable / sdk,
    [`turn.${steps}.synced`]: turn / Math.min(...bare),
    [`turn.${steps}.syncs`]: counts.syncs,
    [`turn.${steps}.bytes`]: counts.bytes,
  };
}
