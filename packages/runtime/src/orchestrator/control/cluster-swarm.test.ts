import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import type { Acceptance, AskOptions, SwarmNotice } from '../../control/swarm.ts';
import { type FakeCluster, fakeCluster, type FakeClusterNode } from '../../testing/fake-cluster.ts';
import { fakeQuestion, fakeStatus } from '../../testing/fake-control.ts';
import { until } from '../../../../../test/until.ts';

let cluster: FakeCluster;
let a: FakeClusterNode;
let b: FakeClusterNode;

beforeEach(() => {
  cluster = fakeCluster();
  a = cluster.join('a');
  b = cluster.join('b');
});

afterEach(() => cluster.close());

const at = { agent: 'entry', instanceKey: 'k' };

function delta(text: string, stepId = 's1', eventId = 'e1'): SwarmNotice {
  return {
    type: 'delta',
    at,
    eventId,
    delta: { type: 'text', text, turnId: `turn-${eventId}`, stepId, stepIndex: 0 },
  };
}

/** Describes deltas by their text. */
function texts(notices: readonly SwarmNotice[]): readonly string[] {
  return notices.flatMap((notice) => {
    if (notice.type !== 'delta') return [];
    return [notice.delta.type === 'discard' ? '(discard)' : notice.delta.text];
  });
}

/** Asks for event `e1` at node a. */
function ask(options: AskOptions = {}) {
  const accepted: Acceptance[] = [];
  const notices: SwarmNotice[] = [];
  const end = a.swarm.ask(
    { ...at, input: 'Hello', id: 'e1' },
    {
      ...options,
      onAccepted: (acceptance) => accepted.push(acceptance),
      onNotice: (notice) => notices.push(notice),
    },
  );
  end.catch(() => undefined);
  return { end, accepted, notices };
}

/** Asks at node a while node b owns the instance. Resolves when the event is accepted. */
async function askOther(options: AskOptions = {}) {
  cluster.own('k', 'b');
  const asked = ask(options);
  await until(() => asked.accepted.length === 1);
  return asked;
}

function asksOf({ local }: FakeClusterNode): readonly unknown[] {
  return local.calls.filter(([name]) => name === 'ask').map(([, request]) => request);
}

async function codeOf(action: Promise<unknown>): Promise<string> {
  const error: unknown = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return GoondanError.is(error) ? error.code : `Not refused: ${String(error)}`;
}

describe('a question to an instance of another node', () => {
  test('S-08 is relayed to its owner, and its deltas come back in order', async () => {
    const { end, accepted, notices } = await askOther();
    const sent = Array.from({ length: 300 }, (_, n) => `${n} `);
    for (const text of sent) b.local.tell(delta(text));
    await until(() => notices.length === 300);
    b.local.finish('e1', 'Done.');
    expect(await end).toMatchObject({ ...at, eventId: 'e1', result: { finishReason: 'text_response' } });
    expect(texts(notices)).toEqual(sent);
    expect(accepted).toMatchObject([{ ...at, eventId: 'e1', duplicate: false }]);
    expect(asksOf(a)).toEqual([]);
    expect(asksOf(b)).toMatchObject([{ ...at, id: 'e1', input: 'Hello' }]);
  });

  test('S-08 goes on at the next owner when its node dies, without a text twice', async () => {
    const { end, accepted, notices } = await askOther();
    b.local.tell(delta('Good mor'));
    await until(() => notices.length === 1);
    const c = cluster.join('c');
    await cluster.lose('b');
    cluster.own('k', 'c');
    await until(() => c.local.running.length === 1);
    for (const text of ['Good ', 'evening.']) c.local.tell(delta(text));
    await until(() => notices.length === 4);
    c.local.finish('e1', 'Good evening.');
    await end;
    expect(texts(notices)).toEqual(['Good mor', '(discard)', 'Good ', 'evening.']);
    expect(accepted).toHaveLength(1);
    expect(asksOf(c)).toMatchObject([{ ...at, id: 'e1' }]);
  });

  test('S-08 leaves a node that is cut off but keeps its connection open, and ignores its late text', async () => {
    const { end, notices } = await askOther();
    const c = cluster.join('c');
    await cluster.lose('b', { kill: false });
    cluster.own('k', 'c');
    await until(() => c.local.running.length === 1);
    c.local.tell(delta('new'));
    await until(() => notices.length === 1);
    b.local.tell(delta('late'));
    c.local.tell(delta('er'));
    await until(() => notices.length === 2);
    c.local.finish('e1', 'newer');
    await end;
    expect(texts(notices)).toEqual(['new', 'er']);
    expect(b.local.cancelled).toEqual([]);
  });

  test('comes back to this node when this node takes the instance over', async () => {
    const { end, accepted } = await askOther();
    await cluster.lose('b');
    await until(() => a.local.running.length === 1);
    a.local.finish('e1', 'Done.');
    await end;
    expect(accepted).toHaveLength(1);
  });

  test('is accepted here when its owner is gone before it has accepted it', async () => {
    cluster.own('k', 'b');
    await b.port.close();
    const { end, accepted } = ask();
    await until(() => accepted.length === 1);
    expect(a.local.calls.map(([name]) => name)).toContain('deliver');
    await cluster.lose('b');
    await until(() => a.local.running.length === 1);
    a.local.finish('e1', 'Done.');
    await end;
  });

  test('waits while the store is away, after it was accepted', async () => {
    const { end } = await askOther();
    cluster.setAway(true);
    await b.port.close();
    await until(() => a.local.running.length === 1);
    a.local.finish('e1', 'Done.');
    await end;
    cluster.setAway(true);
    expect(await codeOf(a.swarm.ask({ ...at, id: 'e2' }))).toBe('E_STORE_AWAY');
  });

  test('is cancelled at its owner, and at the next one if the first is gone', async () => {
    cluster.own('k', 'b');
    const cancel = new AbortController();
    let cancelled = 0;
    const { end, accepted } = ask({ signal: cancel.signal, onCancelled: () => (cancelled += 1) });
    await until(() => accepted.length === 1);
    const c = cluster.join('c');
    await cluster.lose('b');
    cancel.abort();
    cluster.own('k', 'c');
    expect((await end).result.finishReason).toBe('error');
    await until(() => cancelled === 1);
    expect(c.local.calls.find(([name]) => name === 'cancel')).toMatchObject(['cancel', { ...at, eventId: 'e1' }]);
  });

  test('passes on a refusal of its owner', async () => {
    cluster.own('k', 'b');
    b.local.failNext(new GoondanError('E_INBOX_FULL', 'Its inbox is full.'));
    const { end, accepted } = ask();
    expect(await codeOf(end)).toBe('E_INBOX_FULL');
    expect(accepted).toEqual([]);
  });

  test('can be left without ending its turn', async () => {
    cluster.own('k', 'b');
    const left = new AbortController();
    const { end, accepted } = ask({ left: left.signal });
    await until(() => accepted.length === 1);
    left.abort(new GoondanError('E_CONTROL_CLOSED', 'I left.'));
    expect(await codeOf(end)).toBe('E_CONTROL_CLOSED');
    expect(b.local.running).toEqual(['e1']);
  });

  test('stays here if this node owns the instance or nobody does', async () => {
    for (const id of ['e1', 'e2']) {
      const end = a.swarm.ask({ ...at, id });
      await until(() => a.local.running.includes(id));
      a.local.finish(id, 'Done.');
      await end;
      cluster.own('k', 'a');
    }
    expect(b.local.calls).toEqual([]);
  });
});

describe('a watch of a swarm with several nodes', () => {
  test('S-08 names the node of each log line', async () => {
    const lines: string[] = [];
    const watch = await a.swarm.watch({ types: ['log'] }, (notice) => {
      if (notice.type === 'log') lines.push(`${notice.line.node} ${notice.line.message}`);
    });
    const line = { time: '2026-01-01T00:00:00.000Z', level: 'info', message: 'Hi' } as const;
    a.local.tell({ type: 'log', line });
    b.local.tell({ type: 'log', line });
    await until(() => lines.length === 2);
    expect(lines.toSorted()).toEqual(['a Hi', 'b Hi']);
    watch.end();
    await watch.ended;
    await until(() => a.local.watching === 0 && b.local.watching === 0);
  });

  test('S-08 has the notices of all nodes, also of one that joins later, and survives a dead one', async () => {
    const notices: SwarmNotice[] = [];
    const watch = await a.swarm.watch({ types: ['delta'] }, (notice) => notices.push(notice));
    a.local.tell(delta('from a', 's1', 'ea'));
    b.local.tell(delta('from b', 's1', 'eb'));
    await until(() => notices.length === 2);
    await cluster.lose('b');
    const c = cluster.join('c');
    await until(() => c.local.watching === 1);
    expect(c.local.calls.find(([name]) => name === 'watch')).toEqual(['watch', { types: ['delta'], soFar: true }]);
    c.local.tell(delta('from b', 's1', 'eb'));
    a.local.tell(delta('again', 's1', 'ea'));
    await until(() => notices.length === 5);
    expect(texts(notices).toSorted()).toEqual(['(discard)', 'again', 'from a', 'from b', 'from b']);
    watch.end();
    await watch.ended;
    await until(() => a.local.watching === 0 && c.local.watching === 0);
  });

  test('tells an approval once, although every node tells it', async () => {
    const notices: SwarmNotice[] = [];
    const watch = await a.swarm.watch({}, (notice) => notices.push(notice));
    const asked: SwarmNotice = { type: 'question', state: 'asked', at, question: fakeQuestion };
    const decided: SwarmNotice = { ...asked, state: 'decided', outcome: { decision: 'approved', by: 'ann' } };
    for (const notice of [asked, decided]) for (const { local } of [a, b]) local.tell(notice);
    b.local.tell({ type: 'dropped', count: 1 });
    await until(() => notices.some(({ type }) => type === 'dropped'));
    expect(notices.filter(({ type }) => type === 'question')).toEqual([asked, decided]);
    watch.end();
  });
});

describe('the handle of a swarm with several nodes', () => {
  test('S-08 shows the instances and connections of all nodes, each with its node', async () => {
    const elsewhere = { agent: 'entry', instanceKey: 'far', status: 'working', pid: 7, queued: 1, crashes: 0 } as const;
    const asleep = { ...at, status: 'asleep', queued: 0, crashes: 0 } as const;
    const inB: typeof b.local.status = async () => ({
      ...fakeStatus,
      instances: [elsewhere],
      connections: [{ connection: 'telegram', status: 'waiting', crashes: 0 }],
      missing: ['does not run agent "entry": KEY (Model/m) is not set.'],
    });
    b.local.instances = async () => [elsewhere, asleep];
    a.local.instances = async () => [{ ...asleep, instanceKey: 'far' }, asleep];
    b.local.status = async () => ({
      ...fakeStatus,
      instances: ['x', 'y', 'z'].map((instanceKey) => ({ ...elsewhere, instanceKey })),
    });
    // The row of the node is older than its answer.
    expect((await a.swarm.status()).nodes?.[1]).toMatchObject({ processes: 3, instances: 3 });
    b.local.status = async () => ({ ...fakeStatus, instances: [] });
    expect((await a.swarm.status()).nodes?.[1]).toMatchObject({ processes: 0, instances: 2 });
    b.local.status = inB;
    const status = await a.swarm.status();
    expect(status.instances.map(({ instanceKey, node }) => [instanceKey, node])).toEqual([
      ['default', 'a'],
      ['a/b', 'a'],
      ['far', 'b'],
    ]);
    expect(status.connections).toEqual(fakeStatus.connections.map((each) => ({ ...each, node: 'a' })));
    const facts = { version: '1.0.0', since: new Date(0).toISOString(), processes: 1, instances: 2 };
    const missing = ['does not run agent "entry": KEY (Model/m) is not set.'];
    expect(status.nodes).toEqual([
      { name: 'a', address: a.port.address, ...facts },
      { name: 'b', address: b.port.address, ...facts, missing },
    ]);
    expect(await a.swarm.instances()).toEqual([{ ...elsewhere, node: 'b' }, asleep]);
  });

  test('S-08 lists instances that no node holds, page by page, and at most ten thousand of them', async () => {
    a.local.instances = async () => [];
    const working = { agent: 'entry', instanceKey: '1500', status: 'working', pid: 7, queued: 1, crashes: 0 } as const;
    b.local.instances = async () => [working];
    for (let key = 0; key < 2_500; key += 1) cluster.store({ agentName: 'entry', instanceKey: `${key}` });
    const listed = await a.swarm.instances();
    expect(new Set(listed.map(({ instanceKey }) => instanceKey)).size).toBe(2_500);
    expect(listed.find(({ instanceKey }) => instanceKey === '1500')).toEqual({ ...working, node: 'b' });
    expect(listed.at(-1)).toEqual({ agent: 'entry', instanceKey: '2499', status: 'asleep', queued: 0, crashes: 0 });
    cluster.store({ agentName: 'entry', instanceKey: 'far', workingAt: 'silent' });
    expect((await a.swarm.instances()).at(-1)).toMatchObject({ instanceKey: 'far', status: 'working', node: 'silent' });
    for (let key = 2_500; key < 11_000; key += 1) cluster.store({ agentName: 'entry', instanceKey: `${key}` });
    expect(await a.swarm.instances()).toHaveLength(10_000);
  });

  test('names the node that does not answer, and shows the others', async () => {
    await b.port.close();
    const { nodes = [] } = await a.swarm.status();
    expect(nodes.map(({ name, problem }) => [name, problem !== undefined])).toEqual([
      ['a', false],
      ['b', true],
    ]);
    expect(await a.swarm.instances()).toHaveLength(fakeStatus.instances.length);
  });

  test('asks each node once, and no node asks on', async () => {
    cluster.join('c');
    await a.swarm.status();
    await a.swarm.instances();
    expect(b.local.calls.map(([name]) => name)).toEqual(['status', 'instances']);
    expect(a.local.calls.map(([name]) => name)).toEqual(['status', 'instances']);
  });

  test('works on an instance at its owner', async () => {
    cluster.own('k', 'b');
    await a.swarm.deleteInstance({ ...at, force: true });
    await a.swarm.forkInstance({ ...at, as: 'n' });
    expect(await a.swarm.retryDeadLetter({ ...at, eventId: 'dead' })).toBe(true);
    expect(await a.swarm.dropDeadLetter({ ...at, eventId: 'no' })).toBe(false);
    expect(b.local.calls).toEqual([
      ['deleteInstance', { ...at, force: true }],
      ['forkInstance', { ...at, as: 'n' }],
      ['retryDeadLetter', { ...at, eventId: 'dead' }],
      ['dropDeadLetter', { ...at, eventId: 'no' }],
    ]);
    expect(a.local.calls).toEqual([]);
  });

  test('takes an instance that nobody owns, and gives it up if that was in vain', async () => {
    await a.swarm.deleteInstance(at);
    expect(a.claimed).toEqual(['k']);
    a.local.failNext(new GoondanError('E_INSTANCE_UNKNOWN', 'There is none.'));
    expect(await codeOf(a.swarm.deleteInstance({ ...at, instanceKey: 'none' }))).toBe('E_INSTANCE_UNKNOWN');
    expect(a.released).toEqual(['none']);
  });

  test('restarts each instance at its node', async () => {
    const far = { agent: 'helper', instanceKey: 'far', status: 'idle', pid: 7, queued: 0, crashes: 0 } as const;
    b.local.instances = async () => [far];
    b.local.restart = async () => 1;
    a.local.instances = async () => [{ ...at, status: 'asleep', queued: 0, crashes: 0 }];
    cluster.own('far', 'b');
    expect(await a.swarm.restart()).toBe(1);
    expect(a.local.calls.map(([name]) => name)).not.toContain('restart');
    expect(await a.swarm.restart({ fresh: true })).toBe(3);
    expect(a.local.calls).toContainEqual(['restart', { ...at, fresh: true }]);
    expect(a.claimed).toEqual(['k']);
  });

  test('cancels a turn at its owner, wherever the instance is, or with a mark in the inbox', async () => {
    cluster.own('k', 'b');
    b.local.cancel = async ({ eventId }) => eventId === 'at b' || eventId === undefined;
    cluster.pend('at b');
    expect(await a.swarm.cancel({ ...at, eventId: 'at b' })).toBe(true);
    expect(await a.swarm.cancel(at)).toBe(true);
    expect(await a.swarm.cancel({ eventId: 'at b' })).toBe(true);
    cluster.pend('pending');
    expect(await a.swarm.cancel({ ...at, eventId: 'pending' })).toBe(true);
    expect(cluster.marked).toEqual(['pending']);
    a.local.cancel = async () => false;
    expect(await a.swarm.cancel({ ...at, eventId: 'nowhere' })).toBe(false);
    await b.port.close();
    cluster.pend('orphan');
    expect(await a.swarm.cancel({ ...at, eventId: 'orphan' })).toBe(true);
  });

  test('S-08 refuses a short id that means turns of two nodes, and cancels none of them', async () => {
    const [one, two] = ['1f3a9c2b-0000-4000-8000-000000000001', '1f3a9c2b-0000-4000-8000-000000000002'];
    cluster.own('near', 'a');
    cluster.own('far', 'b');
    cluster.pend(`event-${one}`, 'near');
    cluster.pend(`event-${two}`, 'far');
    expect(await codeOf(a.swarm.cancel({ eventId: '1f3a9c2b' }))).toBe('E_TRACE_AMBIGUOUS');
    expect([...a.local.calls, ...b.local.calls].map(([name]) => name)).not.toContain('cancel');
    expect(cluster.marked).toEqual([]);
    b.local.cancel = async ({ instanceKey, eventId }) => instanceKey === 'far' && eventId === `event-${two}`;
    expect(await a.swarm.cancel({ instanceKey: 'far', eventId: '1f3a9c2b' })).toBe(true);
    expect(await a.swarm.cancel({ eventId: two })).toBe(true);
  });

  test('lists dead letters and questions from the store', async () => {
    expect(await a.swarm.deadLetters()).toHaveLength(1);
    expect(await a.swarm.questions()).toEqual([fakeQuestion]);
    await a.swarm.answer({ id: fakeQuestion.id, by: 'ann', decision: 'approved' });
    expect(a.local.calls.at(-1)).toEqual(['answer', { id: fakeQuestion.id, by: 'ann', decision: 'approved' }]);
    expect(b.local.calls).toEqual([]);
  });

  test('delivers here, stops only this node, and refuses a reload', async () => {
    cluster.own('k', 'b');
    await a.swarm.deliver({ ...at, id: 'e7' });
    expect(await codeOf(a.swarm.reload())).toBe('E_CONTROL_REQUEST');
    await a.swarm.stop();
    await a.swarm.stopped;
    expect(a.local.calls.map(([name]) => name)).toEqual(['deliver', 'stop']);
    expect(b.local.calls).toEqual([]);
  });
});
