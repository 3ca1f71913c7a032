import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { samples } from '../../../../test/samples.ts';
import { manualClock } from '../testing/manual-clock.ts';
import type { ReserveOutcome } from './claim.ts';
import { CounterTable } from './counter-table.ts';
import { waitLimits, WaitingCalls } from './waiting-calls.ts';

function openLine(limit: number) {
  const clock = manualClock();
  const table = new CounterTable(clock);
  const waiting = new WaitingCalls({ clock });
  const served: string[] = [];
  const told: string[] = [];
  let ids = 0;
  const call = (agent: string, signal = new AbortController().signal) => {
    const claims = [{ counter: 'places', window: 'call', amount: 1, limit }] as const;
    const reservation = { id: `${agent}${ids++}`, claims, turnOf: agent, isBegun: true };
    const end = () => {
      table.end(reservation, [1]);
      waiting.ended(['places']);
    };
    const reserve = async () => table.reserve(reservation);
    const waits = (words: string) => void told.push(`${reservation.id}: ${words}`);
    const limits = [`concurrent: ${limit} of Model/m`];
    const made = waiting.wait({ reservation, limits, signal, reserve, release: end, waits }).then((waitedMs) => {
      served.push(agent);
      return waitedMs;
    });
    // A test that ends early leaves calls behind.
    made.catch(() => undefined);
    return { made, end };
  };
  return { clock, table, waiting, served, told, call };
}

/** Lets all promises settle. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

test('Y-07 agents take turns, and the calls of an agent keep their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 24 }), async (agents) => {
      const { served, call } = openLine(1);
      const first = call('x');
      await settle();
      const calls = agents.map((agent) => ({ agent, ...call(agent) }));
      await settle();
      expect(served).toEqual(['x']);
      first.end();
      for (let ended = 0; ended < agents.length; ended += 1) {
        await settle();
        const agent = served.at(-1);
        const index = calls.findIndex((each) => each.agent === agent);
        calls.splice(index, 1)[0]?.end();
      }
      await settle();
      const order = served.slice(1);
      // In each round, every agent that still has calls is served once.
      const left = new Map<string, number>();
      for (const agent of agents) left.set(agent, (left.get(agent) ?? 0) + 1);
      for (let at = 0; at < order.length;) {
        const round = [...left].filter(([, count]) => count > 0).map(([agent]) => agent);
        expect(order.slice(at, at + round.length).toSorted()).toEqual(round.toSorted());
        for (const agent of round) left.set(agent, (left.get(agent) ?? 0) - 1);
        at += round.length;
      }
    }),
    { numRuns: samples(100) },
  );
});

test('Y-07 a call waits a limited time, and the error names the limit', async () => {
  const { clock, call, waiting } = openLine(1);
  call('a');
  await settle();
  const { made } = call('b');
  await settle();
  expect(waiting.list()).toMatchObject([{ limit: 'concurrent: 1 of Model/m' }]);
  await clock.advance(waitLimits.mostWaitMs);
  expect(made).rejects.toMatchObject({
    code: 'E_MODEL_LIMIT',
    retryable: true,
    message: 'The call waited 300 s for the limit concurrent: 1 of Model/m.',
  });
  expect(waiting.list()).toEqual([]);
});

test('Y-07 a limited number of calls waits', async () => {
  const { call, waiting } = openLine(1);
  call('a');
  await settle();
  for (let calls = 0; calls < waitLimits.mostWaiting; calls += 1) call('a');
  await settle();
  expect(waiting.list()).toHaveLength(waitLimits.mostWaiting);
  expect(call('b').made).rejects.toMatchObject({ code: 'E_MODEL_LIMIT' });
});

test('a call that is called off leaves the line, and the next one gets its place', async () => {
  const { call, served } = openLine(1);
  const first = call('a');
  await settle();
  const off = new AbortController();
  const [second, third] = [call('b', off.signal), call('c')];
  await settle();
  off.abort(new Error('enough'));
  first.end();
  await settle();
  expect(second.made).rejects.toThrow('enough');
  await third.made;
  expect(served).toEqual(['a', 'c']);
});

test('the time of the wait is returned', async () => {
  const { clock, call } = openLine(1);
  const first = call('a');
  await settle();
  const second = call('b');
  await settle();
  await clock.advance(1_500);
  first.end();
  expect(await first.made).toBe(0);
  expect(await second.made).toBe(1_500);
});

test('a call that is called off during its attempt gives its reservation back', async () => {
  const waiting = new WaitingCalls({ clock: manualClock() });
  const attempt = Promise.withResolvers<ReserveOutcome>();
  const off = new AbortController();
  let released = 0;
  const claims = [{ counter: 'places', window: 'call', amount: 1, limit: 1 }] as const;
  const made = waiting.wait({
    reservation: { id: 'a', claims, turnOf: 'a' },
    limits: ['concurrent: 1 of Model/m'],
    signal: off.signal,
    reserve: () => attempt.promise,
    release: () => void (released += 1),
  });
  off.abort(new Error('enough'));
  attempt.resolve({ status: 'reserved', marked: [] });
  expect(made).rejects.toThrow('enough');
  await settle();
  expect(released).toBe(1);
});

test('Y-07 a place that another node gave back is found, although nobody tells of it', async () => {
  const { clock, table, served, call } = openLine(1);
  call('a');
  await settle();
  call('b');
  await settle();
  table.drop(['places']);
  await clock.advance(250);
  await settle();
  expect(served).toEqual(['a', 'b']);
});

test('Y-07 each call that has to wait learns it once, also behind others, and a call that passes never', async () => {
  const { clock, call, told } = openLine(1);
  const first = call('a');
  await settle();
  expect(told).toEqual([]);
  call('b');
  call('b');
  call('c');
  await settle();
  const words = 'concurrent: 1 of Model/m';
  expect(told).toEqual([`b1: ${words}`, `b2: ${words}`, `c3: ${words}`]);
  await clock.advance(2_000);
  first.end();
  await settle();
  expect(told).toHaveLength(3);
});

test('Y-07 a call learns that it waits also on a line that has no pause', async () => {
  const waiting = new WaitingCalls({ clock: manualClock() });
  const claims = [{ counter: 'places', window: 'call', amount: 1, limit: 1 }] as const;
  const told: string[] = [];
  let attempts = 0;
  const made = waiting.wait({
    reservation: { id: 'a', claims, turnOf: 'a' },
    limits: ['concurrent: 1 of Model/m'],
    signal: new AbortController().signal,
    async reserve() {
      expect(waiting.list()).toHaveLength(told.length);
      attempts += 1;
      if (attempts === 4) return { status: 'reserved', marked: [] };
      // Another call ends during the attempt, so the next attempt follows at once.
      waiting.ended(['places']);
      return { status: 'refused', claim: 0, used: 1, reserved: 1, limit: 1 };
    },
    waits: () => void told.push(`after ${attempts}`),
    release: () => undefined,
  });
  await made;
  expect(told).toEqual(['after 1']);
});

test('Y-07 calls behind another one name the limit that holds the line', async () => {
  const clock = manualClock();
  const table = new CounterTable(clock);
  const waiting = new WaitingCalls({ clock });
  const off = new AbortController();
  const [places, requests] = ['concurrent: 1 of Model/m', 'requestsPerMinute: 1 of Model/m'] as const;
  const call = (id: string) => {
    const claims = [
      { counter: 'places', window: 'call', amount: 1, limit: 1 },
      { counter: 'requests', window: 'minute', amount: 1, limit: 1 },
    ] as const;
    const reservation = { id, claims, turnOf: id };
    const reserve = async () => table.reserve(reservation);
    waiting
      .wait({ reservation, limits: [places, requests], signal: off.signal, reserve, release: () => undefined })
      .catch(() => undefined);
    return () => {
      table.end(reservation, [1, 1]);
      waiting.ended(['places']);
    };
  };
  const end = call('a');
  await settle();
  for (const id of ['b', 'c', 'd']) call(id);
  await settle();
  expect(waiting.list().map(({ limit }) => limit)).toEqual([places, places, places]);
  end();
  await settle();
  expect(waiting.list().map(({ limit }) => limit)).toEqual([requests, requests, requests]);
  off.abort(new Error('enough'));
});
