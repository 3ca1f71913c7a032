/**
 * A node that joins its swarm again when it has lost its place, for example because the database was away for longer than
 * its lease. Its handle stays the same. Watches go on; a request in between is refused and can be repeated.
 */
import { GoondanError } from '@goondan/types';
import type { Swarm, SwarmWatch, WatchFilter, SwarmNotice } from '../../control/swarm.ts';
import { typedWatch } from '../../control/watch-swarm.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import { type Clock, sleep, systemClock } from '../../ports/clock.ts';

export interface RejoiningDeps {
  /** Starts the node, also again after it has lost its place. */
  readonly start: () => Promise<Swarm>;
  /** Receives a reason why the node could not join again, each once. Must not throw. */
  readonly warn: (message: string) => void;
  readonly clock?: Clock;
}

interface Watch {
  readonly filter: WatchFilter;
  readonly listener: (notice: SwarmNotice) => void;
  current: SwarmWatch | undefined;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Starts the node. **Errors** — those of the first start. */
export async function rejoiningSwarm({ start, warn, clock = systemClock }: RejoiningDeps): Promise<Swarm> {
  let current: Swarm | undefined = await start();
  const watches = new Set<Watch>();
  const leaving = new AbortController();
  const over = Promise.withResolvers<void>();
  let failure: GoondanError | undefined;
  void live(current);

  async function live(first: Swarm): Promise<void> {
    for (let running: Swarm | undefined = first; running !== undefined;) {
      await running.stopped;
      current = undefined;
      ({ failure } = running);
      running = leaving.signal.aborted || failure?.code !== 'E_FENCED' ? undefined : await joinAgain();
    }
    for (const { current: watch } of watches) watch?.end();
    over.resolve();
  }

  async function joinAgain(): Promise<Swarm | undefined> {
    const told = new Set<string>();
    for (let pause = FIRST_PAUSE_MS; !leaving.signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const joined = await start();
        failure = undefined;
        current = joined;
        if (leaving.signal.aborted) await joined.stop({ graceMs: 0 });
        for (const watch of watches) watch.current = await joined.watch(watch.filter, watch.listener);
        return joined;
      } catch (error) {
        const message = `The node cannot join again yet: ${messageOf(error)}`;
        if (!told.has(message)) warn(message);
        told.add(message);
      }
      await sleep(clock, pause, leaving.signal).catch(() => undefined);
    }
    return undefined;
  }

  const now = (): Swarm => {
    if (current !== undefined) return current;
    const message = 'This node has lost its place, and joins again.';
    throw new GoondanError('E_STORE_AWAY', message, { retryable: true, suggestion: 'Try again in a moment.' });
  };

  return {
    deliver: async (...given) => now().deliver(...given),
    ask: async (...given) => now().ask(...given),
    watch: typedWatch(async (filter, listener) => {
      const watch: Watch = { filter, listener, current: await now().watch(filter, listener) };
      watches.add(watch);
      const ended = Promise.withResolvers<void>();
      const end = () => {
        watches.delete(watch);
        watch.current?.end();
        ended.resolve();
      };
      void over.promise.then(end);
      return { end, ended: ended.promise };
    }),
    cancel: async (...given) => now().cancel(...given),
    status: async () => now().status(),
    instances: async () => now().instances(),
    deleteInstance: async (...given) => now().deleteInstance(...given),
    forkInstance: async (...given) => now().forkInstance(...given),
    deadLetters: async (...given) => now().deadLetters(...given),
    retryDeadLetter: async (...given) => now().retryDeadLetter(...given),
    dropDeadLetter: async (...given) => now().dropDeadLetter(...given),
    questions: async () => now().questions(),
    answer: async (...given) => now().answer(...given),
    grants: async () => now().grants(),
    revoke: async (...given) => now().revoke(...given),
    restart: async (...given) => now().restart(...given),
    reload: async () => now().reload(),
    async stop(options) {
      leaving.abort();
      await current?.stop(options);
      await over.promise;
    },
    stopped: over.promise,
    get failure() {
      return failure;
    },
  };
}
