/**
 * Measures the cost of traces: turns on disk, with tracing on and off. The cost includes creating and writing the
 * trace.
 */
import { durableAgent, withDisk } from './durable-agent.ts';
import { measure, printTimings } from './measure.ts';

const STEPS = 3;

export async function benchTrace(): Promise<void> {
  for (const layers of [1, 10]) {
    await withDisk(async (journal, fs) => {
      const silent = await durableAgent(journal, STEPS, { layers });
      const traced = await durableAgent(journal, STEPS, { layers, isTraced: true });
      const timings = await measure(
        [
          { name: 'tracing off', run: () => silent.turn() },
          { name: 'tracing on', run: () => traced.turn() },
        ],
        { operations: 10 },
      );
      const what = `a durable turn of ${STEPS} steps, ${layers} layer${layers === 1 ? '' : 's'} around each call`;
      printTimings(what, timings, 'syncs apart; ratio to tracing off');
      const [off, on] = timings.map(({ fastest }) => fastest);
      console.log(`  tracing on takes ${((on ?? 0) / (off ?? 1)).toFixed(2)}× the time, by the fastest samples`);
      await Bun.sleep(100);
      const before = fs.bytes;
      await silent.turn();
      const without = fs.bytes - before;
      await traced.turn();
      await Bun.sleep(100);
      console.log(`  a turn writes ${without} bytes, and ${fs.bytes - before - 2 * without} more with tracing on`);
    });
  }
}
