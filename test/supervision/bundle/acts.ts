/** Tools that do what their input says, good or bad, and record it where the test can read it. */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue, ToolContext, ToolHandler } from '@goondan/types';
import { misbehave } from './misdeeds.ts';

const act: ToolHandler = async (ctx, { deed }) => {
  const text = typeof deed === 'string' ? deed : '';
  if (await misbehave(text)) return undefined;
  const [name = '', argument = ''] = text.split(':');
  return deeds[name]?.(ctx, argument);
};

export const handlers: Record<string, ToolHandler> = { once: act, again: act };

type Deed = (ctx: ToolContext, argument: string) => JsonValue | Promise<JsonValue>;

const deeds: Readonly<Record<string, Deed>> = {
  /** Waits until the file exists, or the signal aborts. */
  async 'wait-for'({ workdir, signal, turnId }, file) {
    note(workdir, `begin ${turnId}`);
    while (!existsSync(join(workdir, file)) && !signal.aborted) await Bun.sleep(5);
    note(workdir, `${signal.aborted ? 'aborted' : 'end'} ${turnId}`);
    return null;
  },
  /** Ends its process if the file does not exist. */
  'crash-without'({ workdir }, file) {
    if (!existsSync(join(workdir, file))) process.exit(1);
    return null;
  },
  log({ logger }, lines) {
    for (let count = 0; count < Number(lines); count++) logger.info('x'.repeat(500));
    return null;
  },
  variable: (_ctx, name) => ({ value: process.env[name] ?? 'none' }),
  print(_ctx, name) {
    const value = process.env[name] ?? 'none';
    console.log(`printed ${value}`);
    console.error(`printed ${JSON.stringify({ value })}`);
    return null;
  },
};

/** Adds a line to a file in the working folder of the agent. */
function note(workdir: string, text: string): void {
  appendFileSync(join(workdir, 'notes.log'), `${text}\n`);
}
