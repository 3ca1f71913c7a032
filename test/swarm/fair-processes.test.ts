// Tests one agent that sends messages to many instances, in a swarm that has fewer processes than instances.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { startTestSwarm } from './start-test-swarm.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

test('the only process of another agent stays, and a person who asks it does not wait in line', async () => {
  await using running = await startTestSwarm({ agents: ['a', 'b', 'c'], policy: { maxProcesses: 3 } });
  const pidOf = async (agent: string) =>
    (await running.swarm.status()).instances.find((each) => each.agent === agent)?.pid;
  expect(await running.say('c', 'warm')).toBe('c heard: warm');
  const before = await pidOf('c');
  expect(before).toBeNumber();
  const held = { name: 'held', steps: [{ hold: 'gate' }] };
  const keys = ['k1', 'k2', 'k3', 'k4'];
  await running.run(
    'a',
    keys.map((instanceKey) => ({ tell: { target: 'b', errand: held, instanceKey } })),
  );
  const isInLine = async () => (await running.swarm.status()).instances.some(({ status }) => status === 'waiting');
  await until(isInLine, { about: 'some of them are in line' });
  expect(await running.say('c', 'still there?')).toBe('c heard: still there?');
  expect(await isInLine()).toBe(true);
  running.release('gate');
  await until(() => running.ends.filter(({ agent }) => agent === 'b').length === keys.length, {
    about: 'all of them ran',
  });
  expect(await pidOf('c')).toBe(before);
});
