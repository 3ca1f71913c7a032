import { describe, expect, test } from 'bun:test';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { CallClaim, CounterRequest } from '../../ipc/from-agent.ts';
import { type PlannedLimit, readLimits } from '../../counters/limit-counter.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { systemClock } from '../../ports/clock.ts';
import type { Counters } from '../../store/counters.ts';
import { memoryCounters, MemorySwarm } from '../../testing/conformance/memory-seams.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { CounterRequests, requestLimits } from './counter-requests.ts';
import { until } from '../../../../../test/until.ts';

const at: AgentAddress = { agentName: 'coder', instanceKey: 'one' };
const other: AgentAddress = { agentName: 'baker', instanceKey: 'one' };
const during = fakeEvent('go', { id: 'e1' });
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));
const claim: CallClaim = { scope: 'swarm', counter: 'calls', window: 'ever', amount: 1, limit: 2 };
const name = '["swarm","calls"]';

function open(change: (store: Counters) => Partial<Counters> = () => ({})) {
  const swarm = new MemorySwarm();
  const memory = memoryCounters(swarm, 'one');
  const said: ToAgent[] = [];
  const reports: string[] = [];
  const plan: { limits: ReadonlyMap<string, PlannedLimit> } = { limits: new Map() };
  const requests = new CounterRequests({
    clock: systemClock,
    store: { ...memory, ...change(memory) },
    report: (_level, _event, message) => void reports.push(message),
    limits: () => plan.limits,
    say: (_, message) => void said.push(message),
    isApproved: (_, id) => id === 'approved',
  });
  let calls = 0;
  const ask = async (request: CounterRequest, from = at, event: typeof during | 'none' = during) => {
    const callId = `call ${calls++}`;
    requests.heard(from, { type: 'counters.ask', callId, request }, event === 'none' ? undefined : event);
    await settle();
    return said.flatMap((each) => (each.type === 'counters.ended' && each.callId === callId ? [each.outcome] : []))[0];
  };
  const held = (counter = name) => Object.keys(swarm.counters.get(counter)?.held ?? {});
  const spent = (counter = name) => swarm.counters.get(counter)?.spent;
  return { requests, ask, held, spent, swarm, said, reports, plan };
}

const reserve = (id: string, claims = [claim]) => ({ kind: 'reserve' as const, id, claims });

describe('the reservations of a process', () => {
  test('Y-04 are ended with it: settled if their calls had begun, and released otherwise', async () => {
    const { requests, ask, held, spent } = open();
    expect(await ask(reserve('a'))).toEqual({ status: 'reserved', marked: [], waitedMs: 0 });
    await ask(reserve('b'));
    expect(await ask({ kind: 'begin', ids: ['a'] })).toEqual({ status: 'done' });
    expect(await ask(reserve('c'), other)).toMatchObject({ status: 'refused', used: 2, limit: 2 });
    requests.processGone(at);
    await settle();
    expect([held(), spent()]).toEqual([[], 1]);
    expect(await ask(reserve('c'), other)).toMatchObject({ status: 'reserved' });
  });

  test('Y-07 are ended also if the answer of the store was lost when they were made', async () => {
    const { ask, held } = open((store) => ({
      async reserve(from, made) {
        await store.reserve(from, made);
        throw new GoondanError('E_STORE_AWAY', 'No answer.');
      },
    }));
    expect(await ask({ ...reserve('a'), limits: ['concurrent: 2 of Model/main'] })).toMatchObject({ status: 'failed' });
    await settle();
    expect(held()).toEqual([]);
  });

  test('Y-04 are ended before the next process reserves', async () => {
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const { requests, ask } = open((store) => ({
      async abandon(all) {
        await gate.promise;
        order.push('abandoned');
        await store.abandon(all);
      },
      async reserve(from, reservation) {
        order.push(reservation.id);
        return store.reserve(from, reservation);
      },
    }));
    await ask(reserve('a'));
    requests.processGone(at);
    expect(await ask(reserve('b'))).toBeUndefined();
    gate.resolve();
    await settle();
    expect(order).toEqual(['a', 'abandoned', 'b']);
  });

  test('Y-04 that the store makes while the process ends are ended, too', async () => {
    const gate = Promise.withResolvers<void>();
    const { requests, ask, held } = open((store) => ({
      async reserve(from, reservation) {
        await gate.promise;
        return store.reserve(from, reservation);
      },
    }));
    expect(await ask(reserve('a'))).toBeUndefined();
    requests.processGone(at);
    await settle();
    gate.resolve();
    await settle();
    expect(held()).toEqual([]);
  });

  test('Y-07 give their places at once to calls that wait', async () => {
    const { requests, ask, held } = open();
    const places = [{ ...claim, window: 'call' as const, limit: 1 }];
    await ask({ kind: 'reserve', id: 'a', claims: places, limits: ['concurrent'] });
    await ask({ kind: 'reserve', id: 'b', claims: places, limits: ['concurrent'] }, other);
    expect(held()).toEqual(['a']);
    requests.processGone(at);
    await settle();
    expect(held()).toEqual(['b']);
  });

  test('that belong to a turn are ended with it, and its own counters are removed', async () => {
    const { requests, ask, swarm } = open();
    const own = { ...claim, scope: 'turn' as const };
    await ask(reserve('a', [own, claim]));
    await ask({ kind: 'begin', ids: ['a'] });
    expect([...swarm.counters.keys()]).toEqual(['["turn","coder","one","turn-e1","calls"]', name]);
    requests.turnFinished(at, { event: during });
    await settle();
    expect([...swarm.counters.keys()]).toEqual([name]);
  });
});

test('a request has the identity of its channel, and needs a turn', async () => {
  const { ask, swarm } = open();
  await ask(reserve('a', [{ ...claim, scope: 'conversation' }]));
  expect([...swarm.counters.keys()]).toEqual(['["conversation","coder","one","calls"]']);
  expect(await ask(reserve('b'), at, 'none')).toMatchObject({ status: 'failed', error: { code: 'E_FENCED' } });
  expect(await ask({ kind: 'begin', ids: ['a'] }, other)).toMatchObject({ error: { code: 'E_FENCED' } });
});

test('Y-04 requests wait for the last of several ends of a conversation', async () => {
  const order: string[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let ends = 0;
  const { requests, ask } = open((store) => ({
    async abandon(all) {
      await gates[ends++]?.promise;
      await store.abandon(all);
      order.push('abandoned');
    },
    reserve: (...given) => (order.push('reserved'), store.reserve(...given)),
  }));
  const next = fakeEvent('go', { id: 'e2' });
  await ask(reserve('a'));
  await ask(reserve('b'), at, next);
  requests.turnFinished(at, { event: during });
  requests.processGone(at);
  gates[0]?.resolve();
  await settle();
  const last = ask(reserve('c'));
  await settle();
  gates[1]?.resolve();
  await last;
  await settle();
  expect(order).toEqual(['reserved', 'reserved', 'abandoned', 'abandoned', 'reserved']);
});

test('Y-04 a budget is raised only with the approval of a person', async () => {
  const { ask, swarm, reports } = open();
  const budget = { extension: 'budget', budget: 'all', measure: 'calls', scope: 'swarm', limit: 2, to: 4 };
  const forged = await ask({ kind: 'raise', approvalId: 'forged', budget });
  expect(forged).toMatchObject({ status: 'failed', error: { code: 'E_APPROVAL_DENIED' } });
  const empty = await ask({ kind: 'raise', approvalId: 'approved', budget: {} });
  expect(empty).toMatchObject({ status: 'failed', error: { code: 'E_APPROVAL_DENIED' } });
  expect(swarm.counters.size).toBe(0);
  expect(await ask({ kind: 'raise', approvalId: 'approved', budget })).toEqual({ status: 'done' });
  expect([...swarm.counters.values()]).toMatchObject([{ raisedTo: 4 }]);
  const ofTurn = { ...budget, scope: 'turn' };
  const money = { ...ofTurn, budget: 'cost', measure: 'money', currency: 'EUR', limit: 0.1, to: 0.1 + 0.2 };
  await ask({ kind: 'raise', approvalId: 'approved', budget: money });
  // The day of the question is over, so its answer raises nothing.
  const ofDay = { ...budget, budget: 'daily', per: 'day', day: '2026-01-01' };
  await ask({ kind: 'raise', approvalId: 'approved', budget: ofDay });
  expect([...swarm.counters.values()]).toHaveLength(2);
  expect(reports.pop()).toBe('The budget "daily" of budget is not raised for 2026-01-01, because that day is over.');
  expect(reports).toEqual([
    'The budget "all" of budget is raised from 2 to 4 calls.',
    'The budget "cost" of budget is raised from 0.1 to 0.3 EUR.',
  ]);
});

test('a conversation has a limited number of reservations', async () => {
  const { ask } = open();
  const many = [{ ...claim, limit: 10_000 }];
  for (let made = 0; made < requestLimits.mostReserved; made += 1) await ask(reserve(`${made}`, many));
  expect(await ask(reserve('more', many))).toMatchObject({ error: { code: 'E_COUNTER_LIMIT' } });
  expect(await ask(reserve('more', many), other)).toMatchObject({ status: 'reserved' });
  // Otherwise none of them could ever end.
  expect(await ask({ kind: 'begin', ids: ['0'] })).toEqual({ status: 'done' });
});

test('refused calls and withdrawn waits are no reservations', async () => {
  const { requests, ask } = open();
  const [none, places] = [
    [{ ...claim, limit: 0 }],
    [{ ...claim, counter: 'places', window: 'call' as const, limit: 1 }],
  ];
  const waiting = (id: string): CounterRequest => ({ kind: 'reserve', id, claims: places, limits: ['concurrent'] });
  await ask(waiting('first'), other);
  for (let made = 0; made < requestLimits.mostReserved; made += 1) {
    expect(await ask(reserve(`refused ${made}`, none))).toMatchObject({ status: 'refused' });
    await ask(waiting(`waits ${made}`));
    requests.heard(at, { type: 'counters.withdrawn', callId: `call ${2 * made + 2}` }, during);
    await settle();
  }
  expect(await ask(reserve('fits'))).toMatchObject({ status: 'reserved' });
});

test('a call that waits is shown, and a withdrawn one leaves the line', async () => {
  const { requests, ask, held, said } = open();
  const places = [{ ...claim, window: 'call' as const, limit: 1 }];
  const limits = ['concurrent: 1 of Model/m'];
  const waiting = (id: string): CounterRequest => ({ kind: 'reserve', id, claims: places, limits });
  expect(await ask(waiting('a'))).toMatchObject({ status: 'reserved' });
  expect(await ask(waiting('b'), other)).toBeUndefined();
  expect(requests.waitOf(other)).toMatchObject({ limit: 'concurrent: 1 of Model/m' });
  expect(requests.waitOf(at)).toBeUndefined();
  requests.heard(other, { type: 'counters.withdrawn', callId: 'call 1' }, during);
  await settle();
  expect(requests.waitOf(other)).toBeUndefined();
  requests.heard(at, { type: 'counters.settled', id: 'a', amounts: [1] }, during);
  await settle();
  expect(held()).toEqual([]);
  expect(said.map(({ type }) => type)).toEqual(['counters.ended', 'counters.waiting']);
});

describe('Y-07 a waiting call follows the limits of the plan', () => {
  const counter = '["model","Model/m","tokensPerMinute"]';
  const whole = JSON.stringify(['swarm', counter]);
  const tokens = (id: string, amount: number): CounterRequest => ({
    ...{ kind: 'reserve', id, limits: ['tokensPerMinute: 100 of Model/m'] },
    claims: [{ scope: 'swarm', counter, window: 'minute', amount, limit: 100 }],
  });
  const planned = (limit: number) => new Map([[whole, { limit, words: `tokensPerMinute: ${limit} of Model/m` }]]);

  test.each([
    ['raises', planned(150)],
    ['removes', readLimits([['Model/m', {}]])],
  ])('a reload that %s the limit ends the wait', async (_, limits) => {
    const { requests, ask, said, plan, swarm } = open();
    plan.limits = planned(100);
    await ask(tokens('a', 80));
    expect(await ask(tokens('b', 60), other)).toBeUndefined();
    plan.limits = limits;
    const ended = () => said.filter(({ type }) => type === 'counters.ended');
    await until(() => ended().length === 2);
    expect(ended()[1]).toMatchObject({ callId: 'call 1', outcome: { status: 'reserved' } });
    requests.heard(other, { type: 'counters.settled', id: 'b', amounts: [7] }, during);
    await settle();
    expect(swarm.counters.get(whole)).toMatchObject({ recent: [[expect.any(Number), 7]], held: { a: { amount: 80 } } });
  });

  test('a reload after which no agent has the model keeps the limit', async () => {
    const { requests, ask, plan } = open();
    plan.limits = planned(100);
    await ask(tokens('a', 80));
    await ask(tokens('b', 60), other);
    plan.limits = readLimits([['Model/n', { limits: { countedAs: 'Model/n', tokensPerMinute: 7 } }]]);
    await Bun.sleep(300);
    expect(requests.waitOf(other)).toMatchObject({ limit: 'tokensPerMinute: 100 of Model/m' });
  });

  test('a lower limit counts, too, and a call above it goes alone', async () => {
    const { requests, ask, said, plan } = open();
    plan.limits = planned(100);
    await ask(tokens('a', 80));
    await ask(tokens('b', 60), other);
    plan.limits = planned(50);
    await until(() => requests.waitOf(other)?.limit === 'tokensPerMinute: 50 of Model/m');
    requests.heard(at, { type: 'counters.settled', id: 'a', amounts: [0] }, during);
    await until(() => said.filter(({ type }) => type === 'counters.ended').length === 2);
  });

  test('the claims of a process count until the plan changes, because it may have the next plan already', async () => {
    const { ask, plan } = open();
    plan.limits = new Map();
    await ask(tokens('a', 80));
    expect(await ask(tokens('b', 60), other)).toBeUndefined();
    await Bun.sleep(300);
    expect(await ask(tokens('c', 1), at)).toBeUndefined();
  });
});

test('texts of the store do not reach the process', async () => {
  const { ask } = open(() => ({
    reserve: () => Promise.reject(Object.assign(new Error('postgres://secret'), { code: 'E_STORE_AWAY' })),
  }));
  const end = await ask(reserve('a'));
  expect(end).toMatchObject({ status: 'failed', error: { code: 'E_STORE_WRITE' } });
  expect(JSON.stringify(end)).not.toContain('secret');
});
