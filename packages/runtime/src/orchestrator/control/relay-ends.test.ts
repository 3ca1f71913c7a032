// Tests that nothing is left of a question or a watch that is over.
import { expect, test } from 'bun:test';
import type { Swarm, SwarmWatch } from '../../control/swarm.ts';
import type { ClusterNode } from '../../store/cluster-store.ts';
import { fakeControl } from '../../testing/fake-control.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { OtherNodes } from './other-nodes.ts';
import { relayAsk } from './relay-ask.ts';
import { relayWatch } from './relay-watch.ts';

const facts = { since: new Date(0), version: '1', load: 0, instances: 0, isDraining: false };
const control = { address: '127.0.0.1:1', certificate: '' };

/** The nodes `a`, which is this one, and `b`. Node `a` owns all instances. */
function openNodes(other: Pick<Swarm, 'watch'>) {
  const clock = manualClock();
  const [a, b]: readonly ClusterNode[] = ['a', 'b'].map((name) => ({ name, ...facts, control }));
  let lookups = 0;
  const nodes = new OtherNodes({
    clock,
    placement: {
      node: 'a',
      nodes: async () => [a, b].filter((node) => node !== undefined),
      ownerOf: async () => {
        lookups += 1;
        return a;
      },
    },
    // Safe: nothing else of the other node is used.
    connect: () => other as Swarm,
  });
  return { clock, nodes, lookups: () => lookups };
}

test('an answered question leaves no watch, and nobody looks for its owner any more', async () => {
  const local = fakeControl();
  const { clock, nodes, lookups } = openNodes(fakeControl());
  const delivery = { agent: 'entry', instanceKey: 'k', input: 'Hello', id: 'e1' };
  const end = relayAsk({ local, nodes, clock, cancel: async () => false }, delivery, true, {
    onNotice: () => undefined,
  });
  await clock.advance(2_000);
  expect([local.running, local.watching, lookups()]).toEqual([['e1'], 1, 2]);
  local.finish('e1', 'Done.');
  await end;
  await clock.advance(60_000);
  expect([local.watching, lookups(), clock.pending]).toEqual([0, 2, 0]);
});

test('a watch that another node opens too late is ended', async () => {
  const late = Promise.withResolvers<SwarmWatch>();
  const local = fakeControl();
  const { clock, nodes } = openNodes({ watch: () => late.promise });
  const opening = relayWatch({ node: 'a', local, nodes, clock }, {}, () => undefined);
  await clock.advance(3_000);
  const watch = await opening;
  watch.end();
  let isEnded = false;
  late.resolve({ end: () => void (isEnded = true), ended: new Promise(() => undefined) });
  await clock.advance(0);
  expect([isEnded, local.watching, clock.pending]).toEqual([true, 0, 0]);
});
