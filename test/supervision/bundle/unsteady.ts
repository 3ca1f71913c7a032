/**
 * An extension that ends its process at random: while it loads, before or after the steps of a turn, while it is cleaned
 * up. The same numbers come out for the same seed, instance and life. Without a seed it does so whenever it loads. It
 * notes each life of its instance.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtensionRegister } from '@goondan/types';

export interface Life {
  /** Since the system started, in hundredths of a second. */
  readonly startedAt: number;
  readonly pid: number;
}

/** In the scratch folder of its instance. */
export const livesFile = 'lives.jsonl';

export const register: ExtensionRegister<{ seed?: number }> = (api, { seed }) => {
  // Where a process works is the one thing that tells the instances apart before their first turn.
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

/** When a process was started: the 22nd field; the second one may hold anything. */
function startOf(pid: number | 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}
