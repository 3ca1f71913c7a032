/** Messages from the orchestrator to a keeper process. */
import { count, jsonObject, oneByField } from './check/shape.ts';

export const checkToKeeper = oneByField('type', {
  start: () => ({ plan: jsonObject }),
  ping: () => ({ n: count }),
  drain: () => ({ graceMs: count }),
});

export type ToKeeper = ReturnType<typeof checkToKeeper>;
