import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { manualClock } from '../testing/manual-clock.ts';
import { type Draining, drainSwarm } from './drain-swarm.ts';

async function failureOf(lost?: GoondanError): Promise<GoondanError> {
  const failures: GoondanError[] = [];
  const drain = async () => undefined;
  // Safe: draining uses nothing else of these parts.
  const parts = {
    clock: manualClock(),
    swarm: { drain, waiters: { failAll: (error: GoondanError) => failures.push(error) } },
    connections: { drain },
    keepers: { drain },
  } as unknown as Draining;
  await drainSwarm(parts, 0, new AbortController().signal, lost);
  const [failure] = failures;
  if (failure === undefined) throw new Error('Nothing failed.');
  return failure;
}

test('a client that waits is told to start a swarm that was stopped', async () => {
  const { code, message, suggestion } = await failureOf();
  expect([code, message]).toEqual([
    'E_SWARM_STOPPED',
    'The swarm was stopped; the turn continues when it is started again.',
  ]);
  expect(suggestion).toStartWith('Start the swarm again');
});

test('S-02 a client that waits at a node without its place is told that the turn continues at another node', async () => {
  const lost = new GoondanError('E_FENCED', 'The lease of node "one" has ended in the database.');
  const { code, message, suggestion } = await failureOf(lost);
  expect(code).toBe('E_SWARM_STOPPED');
  expect(message).toBe('The lease of node "one" has ended in the database. The turn continues at another node.');
  expect(suggestion).toContain('Ask again with the same id');
});
