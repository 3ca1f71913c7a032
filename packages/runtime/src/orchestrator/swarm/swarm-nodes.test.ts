// Tests several nodes of one swarm: fake agents, and a shared store in memory whose leases the test ends by hand.
import { afterEach, describe, expect, test } from 'bun:test';
import { type AgentAddress, type AgentEvent, textOf as messageText } from '@goondan/types';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { FakeAnswer } from '../../testing/fake-agents.ts';
import {
  fakeEvent,
  type FakeSwarm,
  type FakeSwarmOptions,
  openFakeSwarm,
  removeFakeSwarm,
} from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { MemoryCluster } from '../../testing/memory-cluster.ts';
import { until } from '../../testing/serve-fake-swarm.ts';
import { REST_MS } from '../instances/resting-instances.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function openNode(
  of: MemoryCluster,
  node: string,
  answer: FakeAnswer,
  options: Pick<FakeSwarmOptions, 'policy' | 'clock' | 'beforeSend'> = {},
): Promise<FakeSwarm> {
  const opened = await openFakeSwarm(answer, { ...options, cluster: { of, node } });
  cleanups.push(() => removeFakeSwarm(opened));
  cleanups.push(() => opened.close());
  return opened;
}

const at = (agentName: string, instanceKey = 'default'): AgentAddress => ({ agentName, instanceKey });
const never = () => new Promise<undefined>(() => undefined);
const pendingOf = ({ swarm }: MemoryCluster, address: AgentAddress) =>
  swarm.inputOf(address).pending.map(({ event }) => event.id);

function isTurn(message: unknown): message is Extract<ToAgent, { type: 'turn' }> {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'turn';
}

/** Delivers an event at a node, without waiting for its turn. */
async function deliver({ swarm }: FakeSwarm, to: AgentAddress, given: Partial<AgentEvent> = {}): Promise<AgentEvent> {
  const event = fakeEvent('hello', { instanceKey: to.instanceKey, ...given });
  await swarm.accept(to, event, false);
  return event;
}

describe('several nodes', () => {
  test('S-02 an instance gets a process at one node only, wherever its input arrives', async () => {
    const cluster = new MemoryCluster();
    const ran: string[] = [];
    const answer =
      (node: string): FakeAnswer =>
      async ({ event }) => {
        ran.push(`${node} ${event.id}`);
        return 'done';
      };
    const one = await openNode(cluster, 'one', answer('one'));
    const two = await openNode(cluster, 'two', answer('two'));
    await deliver(one, at('a'), { id: 'first' });
    await deliver(two, at('a'), { id: 'second' });
    await until(() => pendingOf(cluster, at('a')).length === 0);
    expect(ran).toEqual(['one first', 'one second']);
    expect(two.agents.children).toHaveLength(0);
  });

  test('S-02 a node that lost an instance kills its process at once, and its late commit changes nothing', async () => {
    const cluster = new MemoryCluster();
    const release = Promise.withResolvers<string>();
    const one = await openNode(cluster, 'one', () => release.promise);
    const two = await openNode(cluster, 'two', async () => 'from two');
    one.store.placement.onLost((_, instance) => instance && one.swarm.moves.moved(instance));
    const event = await deliver(one, at('a'));
    await until(() => one.swarm.instances.find(at('a'))?.running !== undefined);
    const { end } = two.swarm.waiters.wait(at('a'), event.id);
    cluster.move(at('a'), 'two');
    expect(one.agents.children.map(({ kills }) => kills.length)).toEqual([1]);
    cluster.scan();
    expect(messageText((await end).result.responseMessage)).toBe('from two');
    release.resolve('late');
    await Bun.sleep(0);
    expect(one.swarm.instances.find(at('a'))).toBeUndefined();
    expect(one.lines.filter(({ event: name }) => name === 'event.dead_lettered')).toEqual([]);
  });

  test('S-03 input of a dead node is handled by another one, once, and its interruption is no crash', async () => {
    const cluster = new MemoryCluster();
    const one = await openNode(cluster, 'one', never);
    const events = [await deliver(one, at('a')), await deliver(one, at('a')), await deliver(one, at('b'))];
    await until(() => one.swarm.instances.find(at('b'))?.running !== undefined);
    const handled: string[] = [];
    const excused: string[] = [];
    const answer: FakeAnswer = async ({ event }) => {
      handled.push(event.id);
      return 'done';
    };
    await openNode(cluster, 'two', answer, {
      beforeSend(message) {
        if (isTurn(message) && message.isExcused === true) excused.push(message.event.id);
      },
    });
    cluster.kill('one', false);
    cluster.scan();
    cluster.scan();
    await until(() => handled.length === 3);
    cluster.scan();
    await Bun.sleep(1);
    expect(handled.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect(excused.toSorted()).toEqual([events[0], events[2]].map((event) => event?.id ?? '').toSorted());
  });

  test('S-10 a store that is away starts no process, and its input is handled when it is back, without a dead letter', async () => {
    const cluster = new MemoryCluster();
    const one = await openNode(cluster, 'one', async () => 'done', { policy: { idle: { hibernateAfterSeconds: 0 } } });
    await one.send('a', 'warm');
    await until(() => !one.swarm.instances.find(at('a'))?.hasProcess);
    const event = fakeEvent('hello');
    const accept = one.store.inbox.accept(at('a'), event);
    cluster.isAway = true;
    await accept;
    const { length: before } = one.agents.children;
    cluster.scan();
    await until(() => (one.swarm.instances.find(at('a'))?.state.startFailures ?? 0) >= 5);
    expect(one.agents.children).toHaveLength(before);
    cluster.isAway = false;
    await until(() => pendingOf(cluster, at('a')).length === 0);
    expect(one.lines.filter(({ event: name }) => name === 'event.dead_lettered')).toEqual([]);
  });

  test('S-10 a turn that the store ended is run again, however often: its caller waits, and nothing becomes a dead letter', async () => {
    const cluster = new MemoryCluster();
    let turns = 0;
    const answer: FakeAnswer = async ({ child, event: { id: eventId } }) => {
      turns += 1;
      if (turns > 6) return 'done';
      const error = { code: 'E_STORE_AWAY', message: 'away', retryable: true } as const;
      await child.channel.send({ type: 'turn.lost', eventId, error }).catch(() => undefined);
      return undefined;
    };
    const restart = { quickCrashes: 0, baseMs: 1, maxMs: 1 };
    const one = await openNode(cluster, 'one', answer, { policy: { restart } });
    expect(messageText((await one.send('a', 'hello')).result.responseMessage)).toBe('done');
    expect(turns).toBe(7);
    expect(one.lines.filter(({ event: name }) => name === 'event.dead_lettered')).toEqual([]);
  });

  test('S-03 an event whose turn ends while its inbox is being read is not handled again', async () => {
    const cluster = new MemoryCluster();
    const finish = Promise.withResolvers<string>();
    let turns = 0;
    const one = await openNode(cluster, 'one', async () => {
      turns += 1;
      return finish.promise;
    });
    const { inbox } = one.store;
    const read = inbox.pendingEntries.bind(inbox);
    const event = await deliver(one, at('a'));
    const { end } = one.swarm.waiters.wait(at('a'), event.id);
    await until(() => turns === 1);
    let reads = 0;
    Object.assign(inbox, {
      async pendingEntries(instance: AgentAddress) {
        const entries = await read(instance);
        reads += 1;
        finish.resolve('done');
        await end;
        return entries;
      },
    });
    const told: unknown[] = [];
    one.swarm.watchers.add({ types: ['turn.ended'] }, (notice) => void told.push(notice));
    cluster.scan();
    await until(() => reads === 1 && told.length === 1);
    await Bun.sleep(5);
    expect(told).toHaveLength(1);
    expect(one.swarm.instances.find(at('a'))?.status).toBe('idle');
  });

  test('an instance that sleeps for a minute is released, and the next node takes its input', async () => {
    const cluster = new MemoryCluster();
    const clock = manualClock();
    const one = await openNode(cluster, 'one', async () => 'one', {
      policy: { idle: { hibernateAfterSeconds: 1 } },
      clock,
    });
    const two = await openNode(cluster, 'two', async () => 'two');
    await one.send('a', 'hello');
    await clock.advance(1_001);
    await until(() => one.swarm.instances.find(at('a')) === undefined);
    expect(cluster.ownerOf(at('a'))).toBe('one');
    await clock.advance(REST_MS + 1);
    await until(() => cluster.ownerOf(at('a')) === undefined);
    expect(messageText((await two.send('a', 'again')).result.responseMessage)).toBe('two');
    expect(cluster.ownerOf(at('a'))).toBe('two');
  });

  test('a node that drains ends its turns, gives up its instances, and claims no other one', async () => {
    const cluster = new MemoryCluster();
    const finish = Promise.withResolvers<string>();
    const one = await openNode(cluster, 'one', () => finish.promise);
    const running = await deliver(one, at('a'));
    const waiting = await deliver(one, at('a'));
    await until(() => one.swarm.instances.find(at('a'))?.running !== undefined);
    const handled: string[] = [];
    const two = await openNode(cluster, 'two', async ({ event }) => {
      handled.push(event.id);
      return 'two';
    });
    const gone = one.swarm.moves.giveUpAll();
    await Bun.sleep(1);
    expect(cluster.ownerOf(at('a'))).toBe('one');
    finish.resolve('one');
    await gone;
    expect(pendingOf(cluster, at('a'))).toEqual([waiting.id]);
    expect(cluster.ownerOf(at('a'))).toBeUndefined();
    await deliver(one, at('b'));
    expect(cluster.ownerOf(at('b'))).toBeUndefined();
    cluster.kill('one', false);
    cluster.scan();
    await until(() => handled.length === 2);
    expect(handled).not.toContain(running.id);
    expect(two.swarm.instances.find(at('a'))).toBeDefined();
  });

  test('a cancel that comes in at another node reaches the running turn', async () => {
    const cluster = new MemoryCluster();
    const reasons: unknown[] = [];
    const one = await openNode(cluster, 'one', async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reasons.push(signal.reason);
      return 'cancelled';
    });
    const two = await openNode(cluster, 'two', never);
    const event = await deliver(one, at('a'));
    await until(() => one.swarm.instances.find(at('a'))?.running !== undefined);
    expect(await two.swarm.cancel(at('a'), 'unknown', 'why')).toBe(false);
    expect(await two.swarm.cancel(at('a'), event.id, 'why')).toBe(true);
    await until(() => reasons.length === 1);
    expect(reasons).toEqual(['why']);
  });
});

describe('a request to an instance of another node', () => {
  /** Agent `a` asks `b`. The instance of `b` belongs to node two. */
  async function openAsking(callee: FakeAnswer, onOutcome: (outcome: unknown) => void, timeoutMs?: number) {
    const cluster = new MemoryCluster();
    const caller: FakeAnswer = async ({ at: { agentName }, call }) => {
      if (agentName !== 'a') return 'other';
      const options = { input: 'question', id: 'question', ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      onOutcome(await call('request', { agentName: 'b' }, options));
      return 'asked';
    };
    const told: unknown[] = [];
    const beforeSend = (message: unknown) => void told.push(message);
    const one = await openNode(cluster, 'one', caller);
    const two = await openNode(cluster, 'two', callee, { beforeSend });
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

  test('is cancelled there when its time is over', async () => {
    const reasons: unknown[] = [];
    const { one } = await openAsking(
      async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reasons.push(signal.reason);
        return 'late';
      },
      (outcome) => outcomes.push(outcome),
      50,
    );
    const outcomes: unknown[] = [];
    await one.send('a', 'go');
    expect(outcomes).toMatchObject([{ status: 'failed', error: { code: 'E_AGENT_TIMEOUT' } }]);
    await until(() => reasons.length === 1);
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
    const one = await openNode(cluster, 'one', ask('a', 'b', Promise.resolve()));
    const two = await openNode(cluster, 'two', ask('b', 'a', first.promise));
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
