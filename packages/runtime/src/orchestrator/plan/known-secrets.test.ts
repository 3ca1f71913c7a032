import { expect, test } from 'bun:test';
import { KnownSecrets, MOST_EARLIER } from './known-secrets.ts';

const agent = (...secrets: string[]) => ({ agentName: 'a', models: {}, secrets });

test('a secret stays masked after it was replaced, and a mask that was handed out learns new ones', () => {
  const known = new KnownSecrets();
  const mask = known.maskFor('a');
  known.learn({ name: 'test', agents: [agent('first-secret-value')] });
  known.learn({ name: 'test', agents: [agent('second-secret-value')] });
  for (const each of [mask, known.mask]) expect(each('first-secret-value second-secret-value')).toBe('*** ***');
  expect(known.maskFor('unknown')('first-secret-value')).toBe('first-secret-value');
});

test('a process is told the newest of the earlier secrets', () => {
  const known = new KnownSecrets();
  const values = Array.from({ length: MOST_EARLIER + 3 }, (_, index) => `secret-value-${index}`);
  known.learn({ name: 'test', agents: [agent(...values)] });
  // The oldest secret is used again, and is then the newest.
  known.learn({ name: 'test', agents: [agent('secret-value-0')] });
  expect(known.earlierOfAgent(agent('secret-value-0'))).toEqual(values.slice(-MOST_EARLIER));
  expect(known.earlierOfAgent(agent(...values.slice(1)))).toEqual(['secret-value-0']);
});
