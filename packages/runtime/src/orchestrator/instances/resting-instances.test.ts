import { expect, test } from 'bun:test';
import { manualClock } from '../../testing/manual-clock.ts';
import { REST_MS, RestingInstances } from './resting-instances.ts';

test('an instance is released a minute after it fell asleep last, whatever the order of the others', async () => {
  const clock = manualClock();
  const released: string[] = [];
  const resting = new RestingInstances({
    clock,
    owned: { has: () => true },
    release: async ({ instanceKey }) => void released.push(instanceKey),
  });
  const sleep = (instanceKey: string) => resting.slept({ agentName: 'coder', instanceKey });
  sleep('a');
  await clock.advance(10_000);
  sleep('b');
  await clock.advance(10_000);
  sleep('a');
  await clock.advance(REST_MS - 10_001);
  expect(released).toEqual([]);
  await clock.advance(1);
  expect(released).toEqual(['b']);
  await clock.advance(10_000);
  expect(released).toEqual(['b', 'a']);
});
