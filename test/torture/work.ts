/** Tools that take a while: some are well-behaved, and some block or leave programs behind. */
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
    // The program has its own session, so that it survives both its parent and its process group.
    Bun.spawn(['setsid', 'sh', '-c', 'sleep 1000 & sleep 1000'], { stdio: ['ignore', 'ignore', 'ignore'] }).unref();
    await Bun.sleep(between(5, 30));
    return { left: job ?? null };
  },
};
