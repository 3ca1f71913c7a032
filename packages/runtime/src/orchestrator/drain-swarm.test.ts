import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { manualClock } from '../testing/manual-clock.ts';
import { HeldInstances } from './calls/held-instances.ts';
import { type Draining, drainSwarm } from './drain-swarm.ts';
import { TurnWaiters } from './watch/turn-waiters.ts';

async function failureOf(lost?: GoondanError, isHandover = false): Promise<GoondanError> {
  const failures: GoondanError[] = [];
  const drain = async () => undefined;
  // Safe: draining uses nothing else of these parts.
  const parts = {
    clock: manualClock(),
    swarm: {
      drain,
      held: { follow: () => undefined },
      waiters: { failAll: (error: GoondanError) => failures.push(error) },
    },
    connections: { drain },
    keepers: { drain },
  } as unknown as Draining;
  await drainSwarm(parts, 0, new AbortController().signal, lost, isHandover);
  const [failure] = failures;
  if (failure === undefined) throw new Error('Nothing failed.');
  return failure;
}

test.each([
  ['stopped', undefined],
  ['lost otherwise than its place', new GoondanError('E_STORE_WRITE', 'The database is gone.')],
])('a client that waits is told to start a swarm that was %s', async (_, lost) => {
  const { code, message, suggestion } = await failureOf(lost);
  expect([code, message]).toEqual([
    'E_SWARM_STOPPED',
    'The swarm was stopped; the turn continues when it is started again.',
  ]);
  expect(suggestion).toStartWith('Start the swarm again');
});

test('a client that waits may ask again at once if another process takes over', async () => {
  const retryable = async (isHandover: boolean) => (await failureOf(undefined, isHandover)).retryable;
  expect([await retryable(true), await retryable(false)]).toEqual([true, false]);
});

test('S-02 a client that waits at a node without its place is told that the turn continues at another node', async () => {
  const lost = new GoondanError('E_FENCED', 'The lease of node "one" has ended in the database.');
  const { code, message, suggestion } = await failureOf(lost);
  expect(code).toBe('E_SWARM_STOPPED');
  expect(message).toBe('The lease of node "one" has ended in the database. The turn continues at another node.');
  expect(suggestion).toContain('Ask again with the same id');
});

test('N-04 a caller of a turn that waits for a person, or begins to, is told before its connection ends, and others afterwards', async () => {
  const waiters = new TurnWaiters();
  const at = (instanceKey: string) => ({ agentName: 'baker', instanceKey });
  const order: string[] = [];
  for (const name of ['held', 'later', 'busy'])
    void waiters
      .wait(at(name), 'e')
      .end.catch((error: unknown) => order.push(`${name} ${GoondanError.is(error) ? error.code : ''}`));
  const asking = [at('held')];
  const held = new HeldInstances({
    asking: () => asking,
    callersOf: () => [],
    holdRequests: () => undefined,
    tell: () => true,
  });
  held.waitsChanged();
  const drain = async () => {
    await Bun.sleep(0);
    order.push('draining');
    asking.push(at('later'));
    held.waitsChanged();
    await Bun.sleep(0);
    order.push('drained');
  };
  // Safe: draining uses nothing else of these parts.
  const parts = {
    clock: manualClock(),
    swarm: { drain: async () => undefined, held, waiters },
    connections: { drain },
    keepers: { drain: async () => undefined },
  } as unknown as Draining;
  await drainSwarm(parts, 0, new AbortController().signal);
  await Bun.sleep(0);
  const stopped = (name: string) => `${name} E_SWARM_STOPPED`;
  expect(order).toEqual([stopped('held'), 'draining', stopped('later'), 'drained', stopped('busy')]);
});
