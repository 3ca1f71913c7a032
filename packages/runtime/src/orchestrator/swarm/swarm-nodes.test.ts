// Tests several nodes of one swarm: fake agents, and a shared store in memory whose leases the test ends by hand.
import { afterEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { type AgentAddress, textOf as messageText } from '@goondan/types';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { FakeAnswer } from '../../testing/fake-agents.ts';
import { at, closeFakeNodes, deliver, never, openFakeNode, pendingOf } from '../../testing/fake-nodes.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { MemoryCluster } from '../../testing/memory-cluster.ts';
import { REST_MS } from '../instances/resting-instances.ts';
import { until } from '../../../../../test/until.ts';

// A mistake in the wake-ups lets most of these tests wait without end.
setDefaultTimeout(5_000);

afterEach(closeFakeNodes);

function isOfType<Type extends ToAgent['type']>(
  message: unknown,
  type: Type,
): message is Extract<ToAgent, { type: Type }> {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type;
}

/** An answer that records the ids of the events it handles. */
function recordTurns() {
  const ran: string[] = [];
  const answer: FakeAnswer = async ({ event }) => {
    ran.push(event.id);
    return 'done';
  };
  return { ran, answer };
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
    const one = await openFakeNode(cluster, 'one', answer('one'));
    const two = await openFakeNode(cluster, 'two', answer('two'));
    await deliver(one, at('a'), { id: 'first' });
    await deliver(two, at('a'), { id: 'second' });
    await until(() => pendingOf(cluster, at('a')).length === 0);
    expect(ran).toEqual(['one first', 'one second']);
    expect(two.agents.children).toHaveLength(0);
  });

  test('S-03 input that two nodes accept at the same time is handled in the order of its numbers', async () => {
    const cluster = new MemoryCluster();
    const { ran, answer } = recordTurns();
    const one = await openFakeNode(cluster, 'one', answer);
    const two = await openFakeNode(cluster, 'two', answer);
    // The owner does not hear of events that the other node accepts, also before its claim.
    cluster.isSilent = true;
    await two.store.inbox.accept(at('a'), fakeEvent('hello', { id: 'first' }));
    await deliver(one, at('a'), { id: 'second' });
    await until(() => ran.includes('second'));
    await deliver(two, at('a'), { id: 'third' });
    await deliver(one, at('a'), { id: 'fourth' });
    await deliver(two, at('a'), { id: 'fifth' });
    await Promise.all([deliver(two, at('a'), { id: 'sixth' }), deliver(one, at('a'), { id: 'seventh' })]);
    await until(() => ran.includes('seventh'));
    expect(ran).toEqual(['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh']);
    expect(pendingOf(cluster, at('a'))).toEqual([]);
  });

  test('S-03 a turn that the store refuses because of earlier input runs after that input, and is not a crash', async () => {
    const cluster = new MemoryCluster();
    const [ran, refused]: [string[], string[]] = [[], []];
    const answer: FakeAnswer = async ({ at: own, event: { id }, deadLetter, child }) => {
      if (pendingOf(cluster, own)[0] === id) {
        ran.push(deadLetter ? `${id} as a dead letter` : id);
        return 'done';
      }
      refused.push(id);
      const error = { code: 'E_STORE_ORDER', message: 'Earlier input is not handled yet.', retryable: true } as const;
      await child.channel.send({ type: 'turn.lost', eventId: id, error });
      child.exit({ code: 1 });
      return undefined;
    };
    const one = await openFakeNode(cluster, 'one', answer);
    const two = await openFakeNode(cluster, 'two', answer);
    cluster.isSilent = true;
    await deliver(one, at('a'), { id: 'first' });
    await until(() => ran.length === 1);
    // The owner misses events when it reads its input.
    const read = one.store.inbox.pendingEntries.bind(one.store.inbox);
    spyOn(one.store.inbox, 'pendingEntries').mockImplementation(async (address) => {
      const entries = await read(address);
      return refused.length === 0 ? entries.filter(({ event: { id } }) => !id.startsWith('missed')) : entries;
    });
    for (const id of ['missed-1', 'missed-2']) await deliver(two, at('a'), { id });
    for (const id of ['second', 'third']) await deliver(one, at('a'), { id });
    await until(() => pendingOf(cluster, at('a')).length === 0);
    expect(ran).toEqual(['first', 'missed-1', 'missed-2', 'second', 'third']);
    expect(refused).toEqual(['second']);
  });

  test('S-03 input that arrives at its owner alone is queued without a read of the inbox', async () => {
    const cluster = new MemoryCluster();
    const { ran, answer } = recordTurns();
    const one = await openFakeNode(cluster, 'one', answer);
    await deliver(one, at('a'), { id: 'first' });
    await until(() => ran.length === 1);
    const read = spyOn(one.store.inbox, 'pendingEntries');
    for (const id of ['second', 'third']) await deliver(one, at('a'), { id });
    await until(() => ran.length === 3);
    expect(read).not.toHaveBeenCalled();
  });

  test('S-02 a node that lost an instance kills its process at once, and its late commit changes nothing', async () => {
    const cluster = new MemoryCluster();
    const release = Promise.withResolvers<string>();
    const one = await openFakeNode(cluster, 'one', () => release.promise);
    const two = await openFakeNode(cluster, 'two', async () => 'from two');
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

  test('S-08 a wait for a turn that moves ends at once, so that its next owner can be asked', async () => {
    const cluster = new MemoryCluster();
    const one = await openFakeNode(cluster, 'one', never);
    one.store.placement.onLost((_, instance) => instance && one.swarm.moves.moved(instance));
    const event = await deliver(one, at('a'));
    await until(() => one.swarm.instances.find(at('a'))?.running !== undefined);
    const told = one.swarm.waiters.wait(at('a'), event.id).end.catch((error: unknown) => error);
    cluster.move(at('a'), 'two');
    expect(await Promise.race([told, Bun.sleep(0)])).toMatchObject({ code: 'E_FENCED', retryable: true });
  });

  test('S-03 input of a dead node is handled by another one, once, and its interruption is no crash', async () => {
    const cluster = new MemoryCluster();
    const one = await openFakeNode(cluster, 'one', never);
    const events = [await deliver(one, at('a')), await deliver(one, at('a')), await deliver(one, at('b'))];
    await until(() => one.swarm.instances.find(at('b'))?.running !== undefined);
    const { ran: handled, answer } = recordTurns();
    const excused: string[] = [];
    await openFakeNode(cluster, 'two', answer, {
      beforeSend(message) {
        if (isOfType(message, 'turn') && message.isExcused === true) excused.push(message.event.id);
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
    const one = await openFakeNode(cluster, 'one', async () => 'done', {
      policy: { idle: { hibernateAfterSeconds: 0 } },
    });
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
    const one = await openFakeNode(cluster, 'one', answer, { policy: { restart } });
    expect(messageText((await one.send('a', 'hello')).result.responseMessage)).toBe('done');
    expect(turns).toBe(7);
    expect(one.lines.filter(({ event: name }) => name === 'event.dead_lettered')).toEqual([]);
  });

  test('S-03 an event whose turn ends while its inbox is being read is not handled again', async () => {
    const cluster = new MemoryCluster();
    const finish = Promise.withResolvers<string>();
    let turns = 0;
    const one = await openFakeNode(cluster, 'one', async () => {
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

  test('S-02 an instance that is lost while its inbox is being read gets no process here', async () => {
    const cluster = new MemoryCluster();
    const one = await openFakeNode(cluster, 'one', never);
    const { inbox, placement } = one.store;
    placement.onLost((_, instance) => instance && one.swarm.moves.moved(instance));
    await inbox.accept(at('a'), fakeEvent('hello'));
    const read = inbox.pendingEntries.bind(inbox);
    let reads = 0;
    Object.assign(inbox, {
      async pendingEntries(instance: AgentAddress) {
        const entries = await read(instance);
        cluster.move(instance, 'two');
        reads += 1;
        return entries;
      },
    });
    cluster.scan();
    await until(() => reads === 1);
    await Bun.sleep(1);
    expect([one.swarm.instances.find(at('a')), one.agents.children.length]).toEqual([undefined, 0]);
  });

  test('an instance that sleeps for a minute is released, and the next node takes its input', async () => {
    const cluster = new MemoryCluster();
    const clock = manualClock();
    const one = await openFakeNode(cluster, 'one', async () => 'one', {
      policy: { idle: { hibernateAfterSeconds: 1 } },
      clock,
    });
    const two = await openFakeNode(cluster, 'two', async () => 'two');
    await one.send('a', 'hello');
    await clock.advance(1_001);
    await until(() => one.swarm.instances.find(at('a')) === undefined);
    expect(cluster.ownerOf(at('a'))).toBe('one');
    await clock.advance(REST_MS + 1);
    await until(() => cluster.ownerOf(at('a')) === undefined);
    expect(messageText((await two.send('a', 'again')).result.responseMessage)).toBe('two');
    expect(cluster.ownerOf(at('a'))).toBe('two');
  });

  test('an instance that woke up before its minute is over stays, with its process', async () => {
    const cluster = new MemoryCluster();
    const clock = manualClock();
    const one = await openFakeNode(cluster, 'one', async () => 'one', {
      policy: { idle: { hibernateAfterSeconds: 50 } },
      clock,
    });
    await one.send('a', 'hello');
    await clock.advance(50_001);
    await until(() => one.swarm.instances.find(at('a')) === undefined);
    await clock.advance(REST_MS - 10_000);
    await one.send('a', 'again');
    await clock.advance(11_000);
    await Bun.sleep(1);
    expect([cluster.ownerOf(at('a')), one.swarm.instances.find(at('a'))?.hasProcess]).toEqual(['one', true]);
    expect(one.agents.children.at(-1)?.kills).toEqual([]);
  });

  test('a node that drains ends its turns, gives up its instances, and claims no other one', async () => {
    const cluster = new MemoryCluster();
    const finish = Promise.withResolvers<string>();
    const one = await openFakeNode(cluster, 'one', () => finish.promise);
    const running = await deliver(one, at('a'));
    const waiting = await deliver(one, at('a'));
    await until(() => one.swarm.instances.find(at('a'))?.running !== undefined);
    const { ran: handled, answer } = recordTurns();
    const two = await openFakeNode(cluster, 'two', answer);
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

  test('S-09 a node leaves an agent whose values it misses to others, says so once, and keeps it out of its processes', async () => {
    const cluster = new MemoryCluster();
    const ran: string[] = [];
    const answer =
      (node: string): FakeAnswer =>
      async ({ event }) => {
        ran.push(`${node} ${event.input}`);
        return node;
      };
    const one = await openFakeNode(cluster, 'one', answer('one'));
    await one.send('a', 'before');
    const { plan } = one.currentPlan.value;
    const missing = ['KEY (Model/m)'];
    const without = {
      ...plan,
      agents: plan.agents.map((each) => (each.agentName === 'a' ? { ...each, missing } : each)),
    };
    one.currentPlan.replace(without);
    await until(() => cluster.ownerOf(at('a')) === undefined);
    await deliver(one, at('a'), { input: 'after' });
    await one.send('b', 'other');
    one.currentPlan.replace({ ...without, policy: { maxProcesses: 7 } });
    expect(one.lines.filter(({ event }) => event === 'node.incomplete').map(({ message }) => message)).toEqual([
      'Node "one" does not run agent "a": KEY (Model/m) is not set.',
    ]);
    cluster.scan();
    await openFakeNode(cluster, 'two', answer('two'));
    cluster.scan();
    await until(() => ran.length === 3);
    expect(ran).toEqual(['one before', 'one other', 'two after']);
    one.currentPlan.replace(plan);
    expect(messageText((await one.send('a', 'again', { instanceKey: 'new' })).result.responseMessage)).toBe('one');
  });

  test('S-08 an agent that lists the others sees instances that this node does not hold', async () => {
    const cluster = new MemoryCluster();
    const told: unknown[] = [];
    const beforeSend = (message: unknown) => void told.push(message);
    const list: FakeAnswer = async ({ child }) => {
      await child.channel.send({ type: 'agents.list', callId: 'list' });
      await until(() => told.some((each) => isOfType(each, 'agents.listed')));
      return 'listed';
    };
    const one = await openFakeNode(cluster, 'one', list, { beforeSend });
    const gate = Promise.withResolvers<void>();
    const two = await openFakeNode(cluster, 'two', async ({ event }) => {
      if (event.input === 'work') await gate.promise;
      return 'two';
    });
    await two.send('b', 'hello', { instanceKey: 'far' });
    const work = two.send('b', 'work', { instanceKey: 'busy' });
    await until(() => cluster.ownerOf(at('b', 'busy')) === 'two');
    await one.send('a', 'who is there');
    gate.resolve();
    await work;
    expect(told.find((each) => isOfType(each, 'agents.listed'))).toMatchObject({
      callId: 'list',
      instances: [
        { ...at('a'), status: 'working' },
        { ...at('b', 'far'), status: 'asleep' },
        { ...at('b', 'busy'), status: 'working' },
      ],
    });
  });

  test('a cancel that comes in at another node reaches the running turn', async () => {
    const cluster = new MemoryCluster();
    const reasons: unknown[] = [];
    const one = await openFakeNode(cluster, 'one', async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reasons.push(signal.reason);
      return 'cancelled';
    });
    const two = await openFakeNode(cluster, 'two', never);
    const event = await deliver(one, at('a'));
    await until(() => one.swarm.instances.find(at('a'))?.running !== undefined);
    expect(await two.swarm.cancel(at('a'), 'unknown', 'why')).toBe(false);
    expect(await two.swarm.cancel(at('a'), event.id, 'why')).toBe(true);
    await until(() => reasons.length === 1);
    expect(reasons).toEqual(['why']);
  });
});
