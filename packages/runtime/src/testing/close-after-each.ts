/** Ends what the tests of a file have opened. */
import { afterEach } from 'bun:test';
import type { FakeAnswer } from './fake-agents.ts';
import { type FakeSwarm, type FakeSwarmOptions, openFakeSwarm, removeFakeSwarm } from './fake-swarm.ts';

/** Runs `cleanups` after each test of the file, the newest first. `openSwarm` opens a swarm that ends with its test. */
export function closeAfterEach() {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  });
  const openSwarm = async (answer: FakeAnswer, options: FakeSwarmOptions = {}): Promise<FakeSwarm> => {
    const opened = await openFakeSwarm(answer, options);
    cleanups.push(() => removeFakeSwarm(opened));
    cleanups.push(() => opened.close());
    return opened;
  };
  return { cleanups, openSwarm };
}
