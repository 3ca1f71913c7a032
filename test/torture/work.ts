/** Tools that take their time, in good ways and bad. */
import type { ToolHandler } from '@goondan/types';

const between = (least: number, most: number) => least + Math.random() * (most - least);

export const handlers: Record<string, ToolHandler> = {
  async do(_ctx, { job }) {
    await Bun.sleep(between(5, 60));
    return { did: job ?? null };
  },
  block(_ctx, { job }) {
    Bun.sleepSync(between(20, 150));
    return { blocked: job ?? null };
  },
  async leave(_ctx, { job }) {
    // In its own session, so that neither the end of its parent nor of its group reaches it.
    Bun.spawn(['setsid', 'sh', '-c', 'sleep 1000 & sleep 1000'], { stdio: ['ignore', 'ignore', 'ignore'] }).unref();
    await Bun.sleep(between(5, 30));
    return { left: job ?? null };
  },
};
