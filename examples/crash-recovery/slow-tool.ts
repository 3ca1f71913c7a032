/** Tools that take their time, and write down, outside of the swarm, that they worked. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolContext, ToolHandler } from '@goondan/types';

export const handlers: Record<string, ToolHandler> = {
  soup: (ctx) => cook(ctx, 'soup'),
  pie: (ctx) => cook(ctx, 'pie'),
};

async function cook(ctx: ToolContext, dish: string): Promise<{ cooked: string }> {
  appendFileSync(join(ctx.workdir, 'kitchen.log'), `${dish}\n`);
  await Bun.sleep(300);
  return { cooked: dish };
}
