/** Messages from the orchestrator to a keeper process. */
import { count, jsonObject, listOf, oneByField, text } from './check/shape.ts';

export const checkToKeeper = oneByField('type', {
  start: () => ({ plan: jsonObject }),
  // Another environment or working folder of the agent: the connection stays open. `unset`: variables that are gone.
  surroundings: () => ({
    environment: jsonObject,
    unset: listOf(text),
    workdir: text,
    secrets: listOf(text),
  }),
  ping: () => ({ n: count }),
  drain: () => ({ graceMs: count }),
});

export type ToKeeper = ReturnType<typeof checkToKeeper>;
