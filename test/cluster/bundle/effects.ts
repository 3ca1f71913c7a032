/** Tools that change the outside world. Each change is two lines of a file: one when it begins, one when it has ended. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolHandler } from '@goondan/types';

/** The time of a change, so that a kill can hit its middle. */
const EFFECT_MS = 15;

const change: ToolHandler = async ({ workdir }, { job = '' }) => {
  const note = (what: string) => appendFileSync(join(workdir, 'effects.log'), `${what} ${JSON.stringify(job)}\n`);
  note('begun');
  await new Promise((resolve) => void setTimeout(resolve, EFFECT_MS));
  note('ended');
  return { did: job };
};

export const handlers: Record<string, ToolHandler> = {
  once: change,
  again: change,
  wait: ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
  crash() {
    process.kill(process.pid, 'SIGKILL');
    return null;
  },
};
