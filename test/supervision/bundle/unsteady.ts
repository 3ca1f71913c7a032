/**
 * An extension that ends its process at random: while it loads, before or after the steps of a turn, or in its cleanup.
 * The same seed, instance and start number give the same random numbers. Without a seed it ends the process whenever it
 * loads. It records each start of its instance.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtensionRegister } from '@goondan/types';

export interface Life {
  /** The time when the process started, in hundredths of a second since the system booted. */
  readonly startedAt: number;
  readonly pid: number;
}

/** The name of the file, in the working folder of the instance, that records its starts. */
export const livesFile = 'lives.jsonl';

export const register: ExtensionRegister<{ seed?: number }> = (api, { seed }) => {
  // Before the first turn, the instance is known only by its working folder.
  const file = join(process.cwd(), livesFile);
  const life: Life = { pid: process.pid, startedAt: startOf('self') };
  appendFileSync(file, `${JSON.stringify(life)}\n`);
  const number = readFileSync(file, 'utf8').split('\n').length;
  const perhapsExit = (place: string, probability: number) => {
    const dice = Number(Bun.hash(`${seed} ${process.cwd().split('/').at(-2)} ${number} ${place}`) % 1_000n) / 1_000;
    if (dice < probability) process.exit(1);
  };
  perhapsExit('load', seed === undefined ? 1 : 0.08);
  api.pipeline.register('turn', async (ctx) => {
    if (ctx.inputEvent.input?.startsWith('poison')) process.exit(1);
    perhapsExit(`before ${ctx.turnId}`, 0.1);
    const result = await ctx.next();
    perhapsExit(`after ${ctx.turnId}`, 0.06);
    return result;
  });
  api.pipeline.register('toolCall', async (ctx) => {
    perhapsExit(`call ${ctx.turnId}`, 0.1);
    return ctx.next();
  });
  return () => perhapsExit('cleanup', 0.5);
};

/**
 * Reads the start time of a process, which is the 22nd field of its `stat` file. The second field may contain any
 * characters.
 */
function startOf(pid: number | 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}
