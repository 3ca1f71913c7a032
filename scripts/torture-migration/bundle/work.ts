/**
 * Tools that write each effect to the ledger beside the bundle. The file `gate` makes slow tools wait, and the file `poison`
 * makes `crash` end its process.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolContext, ToolHandler } from '@goondan/types';

const beside = (name: string) => join(import.meta.dir, '..', name);
const LONG = 1_000_000;

function note(ctx: ToolContext, tool: string, job: unknown, moment: 'begun' | 'ended'): void {
  const line = { turn: ctx.turnId, call: ctx.toolCallId, tool, job: job ?? null, moment };
  appendFileSync(beside('ledger.jsonl'), `${JSON.stringify(line)}\n`);
}

function effect(tool: string, work: (ctx: ToolContext) => Promise<object> | object = () => ({})): ToolHandler {
  return async (ctx, { job }) => {
    note(ctx, tool, job, 'begun');
    const result = await work(ctx);
    note(ctx, tool, job, 'ended');
    return { job: job ?? null, ...result };
  };
}

async function waitAtGate({ signal }: ToolContext): Promise<object> {
  while (existsSync(beside('gate')) && !signal.aborted) await Bun.sleep(50);
  return {};
}

function crash(): object {
  if (existsSync(beside('poison'))) process.kill(process.pid, 'SIGKILL');
  return {};
}

export const handlers: Record<string, ToolHandler> = {
  first: effect('first'),
  second: effect('second'),
  start: effect('start'),
  slow: effect('slow', waitAtGate),
  begin: effect('begin'),
  again: effect('again', waitAtGate),
  write: effect('write', () => ({ text: 'long text '.repeat(LONG / 10) })),
  crash: effect('crash', crash),
  buy: effect('buy'),
};
