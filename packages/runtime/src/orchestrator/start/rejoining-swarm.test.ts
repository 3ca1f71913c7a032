import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import type { Swarm, SwarmNotice } from '../../control/swarm.ts';
import { typedWatch } from '../../control/watch-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { rejoiningSwarm } from './rejoining-swarm.ts';

/** A node that a test ends by hand. Its other methods are not called. */
function fakeNode(name: string) {
  const over = Promise.withResolvers<void>();
  const listeners: ((notice: SwarmNotice) => void)[] = [];
  let failure: GoondanError | undefined;
  const swarm: Pick<Swarm, 'status' | 'watch' | 'stop' | 'stopped' | 'failure'> = {
    status: async () => ({ swarm: name }) as Awaited<ReturnType<Swarm['status']>>,
    watch: typedWatch(async (_, listener) => {
      listeners.push(listener);
      return { end: () => undefined, ended: over.promise };
    }),
    stop: async () => over.resolve(),
    stopped: over.promise,
    get failure() {
      return failure;
    },
  };
  return {
    swarm: swarm as Swarm,
    tell: (notice: SwarmNotice) => listeners.forEach((listener) => listener(notice)),
    end(code: 'E_FENCED' | 'E_UNEXPECTED') {
      failure = new GoondanError(code, 'over');
      over.resolve();
    },
  };
}

/** Starts a node. While its store is away, it cannot start again. */
async function openNode() {
  const clock = manualClock();
  const made: ReturnType<typeof fakeNode>[] = [];
  const warnings: string[] = [];
  const store = { isAway: false, asked: 0 };
  const swarm = await rejoiningSwarm({
    clock,
    warn: (message) => void warnings.push(message),
    async start() {
      store.asked += 1;
      if (store.isAway) throw new GoondanError('E_STORE_AWAY', 'away');
      const node = fakeNode(`node ${made.length}`);
      made.push(node);
      return node.swarm;
    },
  });
  return { swarm, clock, made, warnings, store };
}

const notice: SwarmNotice = { type: 'log', line: { time: '', level: 'info', message: 'hello' } };

test('S-02 a node that lost its place joins again until it is stopped, and its watches go on', async () => {
  const { swarm, clock, made, warnings, store } = await openNode();
  const heard: SwarmNotice[] = [];
  await swarm.watch({}, (each) => void heard.push(each));
  store.isAway = true;
  made[0]?.end('E_FENCED');
  await clock.advance(3_000);
  expect(await swarm.status().catch((error: unknown) => error)).toMatchObject({
    code: 'E_STORE_AWAY',
    retryable: true,
  });
  expect(warnings).toEqual(['The node cannot join again yet: away']);
  store.isAway = false;
  await clock.advance(10_000);
  expect(made).toHaveLength(2);
  expect(await swarm.status()).toMatchObject({ swarm: 'node 1' });
  made[1]?.tell(notice);
  expect(heard).toEqual([notice]);
  await swarm.stop();
  await swarm.stopped;
  expect(made).toHaveLength(2);
});

test('a watch that was ended does not go on when the node joins again', async () => {
  const { swarm, clock, made } = await openNode();
  const heard: SwarmNotice[] = [];
  const watch = await swarm.watch({}, (each) => void heard.push(each));
  watch.end();
  made[0]?.end('E_FENCED');
  await clock.advance(1_000);
  expect(await swarm.status()).toMatchObject({ swarm: 'node 1' });
  made[1]?.tell(notice);
  expect(heard).toEqual([]);
  await swarm.stop();
});

test('a node that ends for another reason does not join again', async () => {
  const { swarm, made } = await openNode();
  made[0]?.end('E_UNEXPECTED');
  await swarm.stopped;
  expect([made.length, swarm.failure?.code]).toEqual([1, 'E_UNEXPECTED']);
});

test('a node that is stopped while it is away from its swarm ends', async () => {
  const { swarm, clock, made, store } = await openNode();
  store.isAway = true;
  made[0]?.end('E_FENCED');
  await clock.advance(100);
  await swarm.stop();
  await clock.advance(60_000);
  expect(store.asked).toBeLessThan(4);
});
