/** Slow tools that record their work outside of the swarm. */
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
