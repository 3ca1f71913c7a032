import { expect, test } from '../testing/with-postgres.ts';
import { openSwarmPerTest } from '../testing/test-swarm.ts';
import type { NodePlacement } from './placement.ts';

const begun = { agentName: 'coder', instanceKey: 'begun' };
const waiting = { agentName: 'coder', instanceKey: 'waiting' };

const swarm = await openSwarmPerTest();

function listen(node: NodePlacement): string[] {
  const told: string[] = [];
  node.onFailover({
    gone: (name) => void told.push(`${name} is gone`),
    takenOver: ({ instanceKey }, from) => void told.push(`${instanceKey} of ${from}`),
  });
  return told;
}

test('S-03 a node tells once that another one is gone, and which begun turns it takes over', async () => {
  const [one, two, third] = [await swarm.join('one'), await swarm.join('two'), await swarm.join('three')];
  const [told, toldThird] = [listen(two), listen(third)];
  for (const at of [begun, waiting]) {
    await swarm.addInput(at, { seq: 1, eventId: at.instanceKey });
    await one.claim(at);
  }
  await swarm.database.query(`update gdn_inbox set began = true where swarm = $1 and key = 'begun'`, [swarm.swarm]);
  await two.renew();
  expect(await two.claim(begun)).toBe(false);
  expect(told).toEqual([]);
  await swarm.endLease(one);
  for (const node of [two, third, two]) await node.renew();
  for (const at of [begun, waiting]) expect(await two.claim(at)).toBe(true);
  expect(told).toEqual(['one is gone', 'begun of one']);
  expect(toldThird).toEqual(['one is gone']);
  await swarm.endLease(two);
  await swarm.join('two');
  await third.renew();
  expect(toldThird).toEqual(['one is gone']);
});
