/**
 * Measures the cost of a turn of one step by the length of its conversation, with secrets to mask. The history grows by
 * a fifth at most while it is measured: a short conversation is replaced by a new one for each sample.
 */
import { countPer, type DiskCounts, describeCounts } from './counting-fs.ts';
import { type BenchAgent, durableAgent, memoryAgent, withDisk } from './durable-agent.ts';
import type { Figures } from './figures.ts';
import { type Contestant, measure, printTimings, type Timing } from './measure.ts';

const LENGTHS = [10, 1_000, 10_000];
const SAMPLES = 30;

export async function benchHistory(): Promise<Figures> {
  const [inMemory, onDisk]: [Timing[], Timing[]] = [[], []];
  const counts: string[] = [];
  for (const messages of LENGTHS) {
    await withDisk({ syncs: 'left out' }, async (journal, fs) => {
      const start = () => durableAgent(journal, { steps: 1 });
      const contestants = [long(messages, () => memoryAgent(1)), long(messages, start)];
      const [memory, durable] = await measure(contestants, {
        operations: 1,
        samples: SAMPLES,
        warmUps: messages < 100 ? 300 : SAMPLES,
      });
      if (memory) inMemory.push(memory);
      if (durable) onDisk.push(durable);
      counts.push(`  ${messages} messages: ${describeCounts(await countTurns(fs, await grown(messages, start)))}`);
    });
  }
  printTimings('a turn of 1 step in memory, by history', inMemory, 'with secrets; ratio to 10 messages');
  printTimings('a durable turn of 1 step, by history', onDisk, 'with secrets; syncs apart; ratio to 10 messages');
  console.log(counts.join('\n'));
  return { 'history.memory': lastToFirst(inMemory), 'history.durable': lastToFirst(onDisk) };
}

/** Talks in a conversation with this many messages, and starts a new one when a fifth was added. */
function long(messages: number, start: () => Promise<BenchAgent>): Contestant {
  let agent: BenchAgent | undefined;
  let left = 0;
  return {
    name: `${messages} messages`,
    async begin() {
      if (left-- > 0) return;
      await agent?.close();
      agent = await grown(messages, start);
      left = Math.floor(messages / 10) - 1;
    },
    run: () => agent?.turn(),
  };
}

/** A turn of one step adds two messages. */
async function grown(messages: number, start: () => Promise<BenchAgent>): Promise<BenchAgent> {
  const agent = await start();
  for (let turn = 0; turn < messages / 2; turn++) await agent.turn();
  return agent;
}

async function countTurns(fs: Parameters<typeof countPer>[0], agent: BenchAgent): Promise<DiskCounts> {
  const counts = await countPer(fs, 10, () => agent.turn());
  await agent.close();
  return counts;
}

function lastToFirst(timings: readonly Timing[]): number {
  return (timings.at(-1)?.median ?? Number.NaN) / (timings[0]?.median ?? Number.NaN);
}
