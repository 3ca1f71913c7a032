/**
 * Measures the cost of a turn on disk as the history grows. Reports the time without syncs, and the bytes written to
 * all files.
 */
import type { Journal } from '../packages/runtime/src/workspace/journal/journal.ts';
import type { CountingFs } from './counting-fs.ts';
import { durableAgent, withDisk } from './durable-agent.ts';
import { printTimings, summarise, type Timing } from './measure.ts';

const TURNS = 60;

export async function benchHistory(): Promise<void> {
  const timings: Timing[] = [];
  const bytes: string[] = [];
  for (const messages of [10, 1_000, 10_000]) {
    const { timing, note } = await withDisk((journal, fs) => turnsOn(journal, fs, messages));
    timings.push(timing);
    bytes.push(`  ${messages} messages: ${note}`);
  }
  printTimings('a durable turn of 1 step, by history', timings, 'syncs apart; ratio to 10 messages');
  console.log(bytes.join('\n'));
}

async function turnsOn(journal: Journal, fs: CountingFs, messages: number): Promise<{ timing: Timing; note: string }> {
  const agent = await durableAgent(journal, 1);
  // A turn of one step adds two messages.
  for (let turn = 0; turn < messages / 2; turn++) await agent.turn();
  const times: number[] = [];
  const before = { bytes: fs.bytes, syncs: fs.syncs };
  for (let turn = 0; turn < TURNS; turn++) {
    const startedAt = performance.now();
    await agent.turn();
    times.push((performance.now() - startedAt) * 1_000);
  }
  const bytes = Math.round((fs.bytes - before.bytes) / TURNS);
  const syncs = ((fs.syncs - before.syncs) / TURNS).toFixed(1);
  return {
    timing: summarise(`${messages} messages`, times),
    note: `${bytes} bytes, ${syncs} syncs a turn`,
  };
}
