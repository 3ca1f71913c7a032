/**
 * Measures the cost of traces: turns on disk, with tracing on and off. The cost includes creating and writing the
 * trace.
 */
import { durableAgent, withDisk } from './durable-agent.ts';
import type { Figures } from './figures.ts';
import { measure, printTimings } from './measure.ts';
import { talking } from './turn.ts';

const STEPS = 3;

export async function benchTrace(): Promise<Figures> {
  for (const layers of [1, 10]) {
    await withDisk({ syncs: 'left out' }, async (journal, fs) => {
      const start = (isTraced: boolean) => () => durableAgent(journal, { steps: STEPS, layers, isTraced });
      const contestants = [talking('tracing off', start(false)), talking('tracing on', start(true))];
      const timings = await measure(contestants, { operations: 5 });
      const what = `a durable turn of ${STEPS} steps, ${layers} layer${layers === 1 ? '' : 's'} around each call`;
      printTimings(what, timings, 'syncs apart; ratio to tracing off');
      const [off, on] = timings.map(({ fastest }) => fastest);
      console.log(`  tracing on takes ${((on ?? 0) / (off ?? 1)).toFixed(2)}× the time, by the fastest samples`);
      const bytes: number[] = [];
      for (const contestant of contestants) {
        await Bun.sleep(100);
        const before = fs.counts.bytes;
        await contestant.run();
        await Bun.sleep(100);
        bytes.push(fs.counts.bytes - before);
      }
      const [without = 0, withTrace = 0] = bytes;
      console.log(`  a turn writes ${without} bytes, and ${withTrace - without} more with tracing on`);
    });
  }
  return {};
}
