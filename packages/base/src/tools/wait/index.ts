/** The tool `wait`: lets a turn go on after a number of seconds. A cancel and the deadline of the call end the wait. */
import { setTimeout } from 'node:timers/promises';
import type { ToolHandler } from '@goondan/types';

/** A little less than the deadline of a tool call, so that the model gets a result and not an error. */
const LONGEST_SECONDS = 110;

const seconds: ToolHandler = async (ctx, input) => {
  // The casts are safe: arguments and config were checked against the schemas in tools.yaml.
  const { seconds: wanted } = input as { seconds: number };
  const { maxSeconds = LONGEST_SECONDS } = ctx.config as { maxSeconds?: number };
  const start = performance.now();
  await setTimeout(Math.min(wanted, maxSeconds) * 1_000, undefined, { signal: ctx.signal });
  const waitedMs = Math.round(performance.now() - start);
  if (wanted <= maxSeconds) return { waitedMs };
  return { waitedMs, notice: `One call waits at most ${maxSeconds} s, but ${wanted} s were asked for.` };
};

export const handlers = { seconds };
