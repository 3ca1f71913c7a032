// Tests requests between instances of several nodes: fake agents, and a shared store in memory.
import { afterEach, describe, expect, spyOn, test } from 'bun:test';
import { textOf as messageText } from '@goondan/types';
import { type FakeAnswer, type FakeCall, fakeUsage } from '../../testing/fake-agents.ts';
import { at, closeFakeNodes, deliver, never, openFakeNode, pendingOf } from '../../testing/fake-nodes.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { MemoryCluster } from '../../testing/memory-cluster.ts';
import type { RemoteCalls } from '../../store/cluster-store.ts';
import { RemoteRequests, type RemoteRequestsDeps } from './remote-requests.ts';
import { until } from '../../../../../test/until.ts';

afterEach(closeFakeNodes);

describe('a request to an instance of another node', () => {
  /** Agent `a` asks `b`. The instance of `b` belongs to node two. */
  async function openAsking(callee: FakeAnswer, onOutcome: (outcome: unknown) => unknown, limits: FakeCall = {}) {
    const cluster = new MemoryCluster();
    const caller: FakeAnswer = async ({ at: { agentName }, call }) => {
      if (agentName !== 'a') return 'other';
      const options = { input: 'question', id: 'question', ...limits };
      await onOutcome(await call('request', { agentName: 'b' }, options));
      return 'asked';
    };
    const told: unknown[] = [];
    const beforeSend = (message: unknown) => void told.push(message);
    const one = await openFakeNode(cluster, 'one', caller);
    const two = await openFakeNode(cluster, 'two', callee, { beforeSend });
    await two.store.placement.claim(at('b'));
    return { cluster, one, two, caller, told };
  }

  test('S-04 is answered by the commit of the other node, and the answer stays until the caller commits', async () => {
    const outcomes: unknown[] = [];
    const { one, two, cluster, told } = await openAsking(
      async ({ event }) => `answer to ${event.input}`,
      (outcome) => outcomes.push(outcome),
    );
    await one.send('a', 'go');
    expect(outcomes).toMatchObject([{ status: 'answered', result: { finishReason: 'text_response' } }]);
    expect(one.agents.started.map(({ at: { agentName } }) => agentName)).toEqual(['a']);
    expect(two.agents.started.map(({ at: { agentName } }) => agentName)).toEqual(['b']);
    expect(cluster.swarm.inputOf(at('b')).answers).toEqual([]);
    // The process of the callee would remove the answer before the caller's turn is committed.
    expect(told).not.toContainEqual(expect.objectContaining({ type: 'reply.taken' }));
  });

  test('S-03 S-04 is answered once more to a caller that was taken over, without another turn of the callee', async () => {
    let turns = 0;
    const { cluster, one, two } = await openAsking(
      async ({ at: { agentName }, call }) => {
        if (agentName === 'b') {
          turns += 1;
          return 'the answer';
        }
        const outcome = await call('request', { agentName: 'b' }, { input: 'question', id: 'question' });
        outcomes.push(outcome);
        return 'asked again';
      },
      () => hang(),
    );
    const outcomes: unknown[] = [];
    const hung = Promise.withResolvers<void>();
    function hang(): never {
      hung.resolve();
      throw new Error('the node is dead');
    }
    const asked = await deliver(one, at('a'));
    await hung.promise;
    void asked;
    expect(turns).toBe(1);
    // The caller's node dies after the answer, before its turn is committed.
    cluster.swarm.inputOf(at('a')).pending.splice(0, 1, { seq: 1, event: asked });
    cluster.kill('one', true);
    const { end } = two.swarm.waiters.wait(at('a'), asked.id);
    cluster.scan();
    expect(messageText((await end).result.responseMessage)).toBe('asked again');
    expect(outcomes).toMatchObject([{ status: 'answered' }]);
    expect(turns).toBe(1);
  });

  test('S-04 is answered when another node deleted the callee before this node claimed it', async () => {
    const outcomes: unknown[] = [];
    const { one, two, cluster } = await openAsking(never, (outcome) => outcomes.push(outcome));
    await two.store.placement.release(at('b'));
    const claim = one.store.placement.claim.bind(one.store.placement);
    spyOn(one.store.placement, 'claim').mockImplementation(async (callee) => {
      const { pending, answers } = cluster.swarm.inputOf(at('b'));
      const error = { code: 'E_INSTANCE_DELETED', message: 'It was deleted.' };
      for (const { event } of callee.agentName === 'b' ? pending.splice(0) : [])
        answers.push({ eventId: event.id, result: { turnId: `turn-${event.id}`, finishReason: 'error', error } });
      return claim(callee);
    });
    await one.send('a', 'go');
    expect(outcomes).toMatchObject([
      { status: 'failed', error: { message: expect.stringContaining('E_INSTANCE_DELETED') } },
    ]);
  });

  test('S-04 fails at once when the callee cannot start at its node, and the input is cancelled there', async () => {
    const outcomes: unknown[] = [];
    const { one, two, cluster } = await openAsking(never, (outcome) => outcomes.push(outcome));
    const sent = one.send('a', 'go');
    await until(() => two.swarm.instances.find(at('b'))?.running !== undefined);
    two.swarm.failRequests(at('b'), { code: 'E_EXT_LOAD', message: 'it does not load' });
    await sent;
    expect(outcomes).toEqual([
      {
        status: 'failed',
        error: { code: 'E_AGENT_FAILED', message: 'Agent "b" failed (E_EXT_LOAD): it does not load' },
      },
    ]);
    expect(cluster.swarm.inputOf(at('b')).pending.map(({ cancelled }) => cancelled)).toEqual([
      'the agent could not start',
    ]);
  });

  test('is cancelled there when its time is over', async () => {
    const reasons: unknown[] = [];
    const { one } = await openAsking(
      async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reasons.push(signal.reason);
        return 'late';
      },
      (outcome) => outcomes.push(outcome),
      { timeoutMs: 50 },
    );
    const outcomes: unknown[] = [];
    await one.send('a', 'go');
    expect(outcomes).toMatchObject([{ status: 'failed', error: { code: 'E_AGENT_TIMEOUT' } }]);
    await until(() => reasons.length === 1);
  });

  test('A-03 Y-03 ends at its limit while the callee works there, and its tokens follow', async () => {
    const gate = Promise.withResolvers<void>();
    const late = Promise.withResolvers<unknown>();
    const { one } = await openAsking(
      async () => {
        await gate.promise;
        return 'late';
      },
      async (outcome) => {
        expect(outcome).toMatchObject({ status: 'failed', error: { code: 'E_AGENT_TIMEOUT' }, usageFollows: true });
        gate.resolve();
        await late.promise;
      },
      { timeoutMs: 500, timeoutFrom: 'call', onLate: late.resolve },
    );
    expect(messageText((await one.send('a', 'go')).result.responseMessage)).toBe('asked');
    expect(await late.promise).toMatchObject({ status: 'failed', usage: fakeUsage });
  });

  test('A-04 is refused when it closes a circle of nodes', async () => {
    const cluster = new MemoryCluster();
    const outcomes = new Map<string, unknown>();
    const ask =
      (from: string, to: string, when: Promise<unknown>): FakeAnswer =>
      async ({ event, call }) => {
        if (event.source.kind === 'agent') return 'answer';
        await when;
        outcomes.set(from, await call('request', { agentName: to }));
        return 'done';
      };
    const first = Promise.withResolvers<void>();
    const one = await openFakeNode(cluster, 'one', ask('a', 'b', Promise.resolve()));
    const two = await openFakeNode(cluster, 'two', ask('b', 'a', first.promise));
    await deliver(two, at('b'));
    await until(() => two.swarm.instances.find(at('b'))?.running !== undefined);
    await deliver(one, at('a'));
    await until(() => pendingOf(cluster, at('b')).length === 2);
    first.resolve();
    await until(() => outcomes.size === 2);
    expect(outcomes.get('b')).toMatchObject({ status: 'failed', error: { code: 'E_AGENT_DEADLOCK' } });
    expect(outcomes.get('a')).toMatchObject({ status: 'answered' });
    await until(() => pendingOf(cluster, at('a')).length + pendingOf(cluster, at('b')).length === 0);
  });

  test('is answered by this node if the callee is taken over by it', async () => {
    const outcomes: unknown[] = [];
    const { one, cluster } = await openAsking(never, (outcome) => outcomes.push(outcome));
    const sent = one.send('a', 'go');
    await until(() => pendingOf(cluster, at('b')).length === 1);
    cluster.kill('two', false);
    cluster.scan();
    await sent;
    expect(outcomes).toMatchObject([{ status: 'answered' }]);
  });
});

test('a request that is over is not watched any more, and none is after the close', () => {
  const watched = new Set<string>();
  const calls: Pick<RemoteCalls, 'watch' | 'forget' | 'onBegan' | 'onAnswered'> = {
    watch: (_, eventId) => void watched.add(eventId),
    forget: (eventId) => void watched.delete(eventId),
    onBegan: () => undefined,
    onAnswered: () => undefined,
  };
  const clock = manualClock();
  // Safe: only these methods are called, and of a call only its kind is read.
  const requests = new RemoteRequests({
    calls,
    clock,
    broker: { find: () => ({ kind: 'request' }) },
    perform: () => undefined,
    isAnybodyAsking: () => false,
    heldChanged: () => undefined,
    report: () => undefined,
  } as unknown as RemoteRequestsDeps);
  for (const id of ['first', 'second']) requests.watch(at('b'), { id });
  requests.ended('first');
  expect([...watched]).toEqual(['second']);
  requests.close();
  expect([watched.size, clock.pending]).toEqual([0, 0]);
});
