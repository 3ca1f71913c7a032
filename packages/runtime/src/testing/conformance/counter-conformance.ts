import type { Claim, CounterWindow, WaitingReservation } from '../../counters/claim.ts';
import { WAITS_MS } from '../../counters/take-turns.ts';
import type { Counters } from '../../store/counters.ts';
import {
  address,
  checksOf,
  expectEqual,
  expectRefusal,
  type OpenSeams,
  otherAddress,
  type RegisterCheck,
} from './conformance.ts';

export interface CounterSeams {
  /** The counters at a node that owns the first conversation of the suite. */
  readonly counters: Counters;
  /** Opens the same store at another node, which owns the second conversation. Absent if the swarm can have only one. */
  readonly elsewhere?: () => Promise<Counters>;
}

/** Checks the promises of `Counters`. */
export function counterConformance(register: RegisterCheck, open: OpenSeams<CounterSeams>): void {
  const check = checksOf(register, open);

  check('the claims of a call are reserved together or not at all', async ({ counters }) => {
    const first = call('first', claim('a', 1, 1), claim('b', 1, 2));
    expectEqual((await counters.reserve(address, first)).status, 'reserved', 'both fit');
    const refused = await counters.reserve(address, call('second', claim('b', 1, 2), claim('a', 1, 1)));
    expectEqual(
      refused,
      { status: 'refused', claim: 1, used: 1, reserved: 1, limit: 1 },
      'the second claim does not fit',
    );
    const third = await counters.reserve(address, call('third', claim('b', 1, 2)));
    expectEqual(third.status, 'reserved', 'nothing of the refused call is left');
  });

  check('calls at the same time never reserve more than the limit', async ({ counters, elsewhere }) => {
    const nodes = [{ counters, at: address }];
    if (elsewhere !== undefined) nodes.push({ counters: await elsewhere(), at: otherAddress });
    const attempts = Array.from({ length: 20 }, async (_, number) => {
      const node = nodes[number % nodes.length] ?? { counters, at: address };
      const made = call(`call ${number}`, claim('a', 1, 7), claim('b', 2, 20));
      const { status } = await node.counters.reserve(node.at, made);
      if (status === 'reserved') await node.counters.begin(node.at, [made]);
      return status;
    });
    const outcomes = await Promise.all(attempts);
    expectEqual(outcomes.filter((status) => status === 'reserved').length, 7, 'as many as fit, and no more');
  });

  check('a reservation that is made twice counts once', async ({ counters }) => {
    const made = call('a', claim('a', 3, 5));
    expectEqual((await counters.reserve(address, made)).status, 'reserved', 'it fits');
    expectEqual((await counters.reserve(address, made)).status, 'reserved', 'it is known');
    await counters.begin(address, [made]);
    await counters.begin(address, [made]);
    expectEqual((await counters.reserve(address, call('b', claim('a', 2, 5)))).status, 'reserved', 'there is room');
    await counters.settle(made, [1]);
    await counters.settle(made, [1]);
    expectEqual(await usedOf(counters, 'a'), 3, 'it is settled once');
  });

  check('a call is settled with its real amounts, and a released one counts nothing', async ({ counters }) => {
    const settled = call('settled', claim('a', 5, 10), claim('b', 5, 10));
    const released = call('released', claim('a', 5, 10));
    for (const made of [settled, released]) await counters.reserve(address, made);
    expectEqual(await usedOf(counters, 'a'), 10, 'reserved amounts count');
    await counters.begin(address, [settled]);
    await counters.settle(settled, [2, 12]);
    await counters.release(released);
    expectEqual(await usedOf(counters, 'a'), 2, 'only the real amount counts');
    expectEqual(await usedOf(counters, 'b'), 12, 'the real amount may be higher');
  });

  check('a call whose reservation was ended does not begin', async ({ counters }) => {
    const made = call('a', claim('a', 1, 5));
    await counters.reserve(address, made);
    await counters.release(made);
    await expectRefusal(() => counters.begin(address, [made]), ['E_FENCED'], 'it is not reserved any more');
    expectEqual(await usedOf(counters, 'a'), 0, 'nothing was counted');
  });

  check('a process that ended: a begun call counts in full, another one is released', async ({ counters }) => {
    const begun = call('begun', claim('a', 3, 10), claim('place', 1, 2, 'call'));
    const reserved = call('reserved', claim('a', 4, 10), claim('place', 1, 2, 'call'));
    for (const made of [begun, reserved]) await counters.reserve(address, made);
    await counters.begin(address, [begun]);
    expectEqual(await usedOf(counters, 'place', 'call'), 2, 'both have a place');
    await counters.abandon([begun, reserved]);
    await counters.abandon([begun, reserved]);
    expectEqual(await usedOf(counters, 'a'), 3, 'only the begun call counts');
    expectEqual(await usedOf(counters, 'place', 'call'), 0, 'places go with their process');
  });

  check('a node that ended: a begun call counts in full, another one is released', async ({ counters }, again) => {
    const begun = call('begun', claim('a', 3, 10), claim('day', 3, 10, 'day'), claim('place', 1, 2, 'call'));
    const reserved = call('reserved', claim('a', 4, 10), claim('day', 4, 10, 'day'), claim('place', 1, 2, 'call'));
    const ended = call('ended', claim('a', 2, 10));
    for (const made of [begun, reserved, ended]) await counters.reserve(address, made);
    await counters.begin(address, [begun, ended]);
    await counters.settle(ended, [1]);
    const next = (await again()).counters;
    expectEqual(await usedOf(next, 'a'), 4, 'begun and settled calls count');
    expectEqual(await usedOf(next, 'day', 'day'), 3, 'in every window');
    expectEqual(await usedOf(next, 'place', 'call'), 0, 'places go with their node');
  });

  check('amounts of a minute and of a day count', async ({ counters }) => {
    const made = call('a', claim('minute', 3, 5, 'minute'), claim('day', 3, 5, 'day'));
    await counters.reserve(address, made);
    await counters.begin(address, [made]);
    await counters.settle(made, [2, 2]);
    const refused = await counters.reserve(address, call('b', claim('minute', 4, 5, 'minute')));
    const { retryAfterMs = 0 } = refused.status === 'refused' ? refused : {};
    expectEqual(refused.status, 'refused', 'the minute is not over');
    expectEqual(retryAfterMs > 0 && retryAfterMs <= 62_000, true, 'it says when it may fit');
    expectEqual(
      (await counters.reserve(address, call('c', claim('minute', 3, 5, 'minute')))).status,
      'reserved',
      'fits',
    );
    expectEqual((await counters.reserve(address, call('d', claim('day', 4, 5, 'day')))).status, 'refused', 'today');
  });

  check('a raised limit is durable, and a lower one changes nothing', async ({ counters }, again) => {
    await counters.raise({ counter: name('a'), window: 'ever' }, 3);
    await counters.raise({ counter: name('a'), window: 'ever' }, 2);
    const next = (await again()).counters;
    expectEqual((await next.reserve(address, call('a', claim('a', 3, 1)))).status, 'reserved', 'as raised');
    const refused = await next.reserve(address, call('b', claim('a', 1, 1)));
    expectEqual(refused, { status: 'refused', claim: 0, used: 3, reserved: 3, limit: 3 }, 'the raised limit is told');
  });

  check('the limit of a day that is over is not raised', async ({ counters }) => {
    const day = { counter: name('day'), window: 'day' as const };
    expectEqual(await counters.raise({ ...day, day: 1 }, 3), false, 'the day is over');
    expectEqual((await counters.reserve(address, call('a', claim('day', 3, 1, 'day')))).status, 'refused', 'as before');
    expectEqual(await counters.raise(day, 3), true, 'the current day is raised');
    expectEqual(
      (await counters.reserve(address, call('b', claim('day', 3, 1, 'day')))).status,
      'reserved',
      'as raised',
    );
  });

  check('a soft claim is never refused, and marked once', async ({ counters }) => {
    const soft = (id: string) => call(id, { ...claim('a', 2, 3), isSoft: true });
    expectEqual(await counters.reserve(address, soft('a')), { status: 'reserved', marked: [] }, 'below its limit');
    expectEqual(await counters.reserve(address, soft('b')), { status: 'reserved', marked: [0] }, 'the first one above');
    expectEqual(await counters.reserve(address, soft('b')), { status: 'reserved', marked: [0] }, 'repeated');
    expectEqual(await counters.reserve(address, soft('c')), { status: 'reserved', marked: [] }, 'a later one');
  });

  check('agents that wait take turns', async ({ counters }) => {
    const takeTurns = async (counter: string) => {
      const made = (agent: string, id: string) => ({ ...call(id, claim(counter, 1, 1, 'call')), turnOf: agent });
      const attempt = async (agent: string, id: string) => (await counters.reserve(address, made(agent, id))).status;
      const atFirst = [await attempt('one', '1'), await attempt('one', '2'), await attempt('two', '3')];
      await counters.release(made('one', '1'));
      const second = [await attempt('one', '2'), await attempt('two', '3')];
      await counters.release(made('two', '3'));
      return { atFirst, second, atLast: [await attempt('two', '4'), await attempt('one', '2')] };
    };
    const expected = {
      // There is one place.
      atFirst: ['reserved', 'refused', 'refused'],
      // It is the turn of the agent that had none.
      second: ['notYet', 'reserved'],
      // Then the first agent is next.
      atLast: ['notYet', 'reserved'],
    };
    for (let round = 1; ; round += 1) {
      const startedAt = performance.now();
      const statuses = await takeTurns(`a${round}`);
      // A wait is over after a while. If a busy machine was slower than that, the outcome says nothing.
      if (performance.now() - startedAt < WAITS_MS) return expectEqual(statuses, expected, 'agents take turns');
    }
  });

  check('a call that waits keeps nothing of a refused attempt', async ({ counters }) => {
    const made = (id: string) => ({ ...call(id, claim('place', 1, 1, 'call'), claim('a', 1, 0)), turnOf: 'one' });
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      expectEqual((await counters.reserve(address, made('1'))).status, 'refused', `attempt ${attempt}`);
    }
    expectEqual(await usedOf(counters, 'place', 'call'), 0, 'the place is free');
  });

  check('counters are removed by the beginning of their names', async ({ counters }, again) => {
    for (const id of ['ax', 'ay', 'b']) {
      const made = call(id, claim(id, 1, 5));
      await counters.reserve(address, made);
      await counters.begin(address, [made]);
      await counters.settle(made, [1]);
    }
    await counters.drop([name('a').slice(0, -2)]);
    const next = (await again()).counters;
    expectEqual(await Promise.all(['ax', 'ay', 'b'].map((id) => usedOf(next, id))), [0, 0, 1], 'only these');
  });

  check('only the owner of a conversation reserves and begins', async ({ counters, elsewhere }) => {
    if (elsewhere === undefined) return;
    const other = await elsewhere();
    const made = call('a', claim('a', 1, 5));
    await expectRefusal(() => other.reserve(address, made), ['E_FENCED'], 'another node has it');
    await counters.reserve(address, made);
    await expectRefusal(() => other.begin(address, [made]), ['E_FENCED'], 'nor does it begin');
    expectEqual(await usedOf(counters, 'a'), 1, 'nothing else was counted');
  });
}

function name(text: string): string {
  return JSON.stringify(['swarm', `conformance: ${text}`]);
}

function claim(counter: string, amount: number, limit: number, window: CounterWindow = 'ever'): Claim {
  return { counter: name(counter), window, amount, limit };
}

function call(id: string, ...claims: readonly Claim[]): WaitingReservation {
  return { id: `turn/0/model/${id}`, claims };
}

/** Returns the amount that a counter counts now. */
async function usedOf(counters: Counters, counter: string, window: CounterWindow = 'ever'): Promise<number> {
  const asked = await counters.reserve(address, call('asks', claim(counter, 1_000_000, 0, window)));
  return asked.status === 'refused' ? asked.used : Number.NaN;
}
