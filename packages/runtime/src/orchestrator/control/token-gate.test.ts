import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { statusOf } from '@goondan/types/http';
import { manualClock } from '../../testing/manual-clock.ts';
import { portLimits } from './port-limits.ts';
import { TokenGate } from './token-gate.ts';

function openGate(limits: Partial<typeof portLimits> = {}) {
  const clock = manualClock();
  const checked: string[] = [];
  const warnings: string[] = [];
  const right = new Set(['right']);
  let failure: Error | undefined;
  const gate = new TokenGate({
    clock,
    limits: { ...portLimits, ...limits },
    warn: (message) => warnings.push(message),
    tokens: {
      check: async (token) => {
        checked.push(token);
        if (failure !== undefined) throw failure;
        return right.has(token) ? { name: token, scope: 'operate' } : undefined;
      },
    },
  });
  const outcome = (token: string, from = '10.0.0.1') =>
    gate.admit(`Bearer ${token}`, from).then(
      ({ name }) => name,
      (error: unknown) => (GoondanError.is(error) ? statusOf(error, { E_CONTROL_FULL: 429, E_STORE_AWAY: 503 }) : 0),
    );
  const fail = (error?: Error) => void (failure = error);
  return { gate, clock, checked, warnings, right, outcome, fail };
}

describe('the gate for tokens', () => {
  test('asks the store once for a token in some seconds, and once for requests at the same time', async () => {
    const { outcome, checked, clock, right } = openGate();
    expect(await Promise.all(Array.from({ length: 100 }, () => outcome('right')))).toEqual(
      Array.from({ length: 100 }, () => 'right'),
    );
    await clock.advance(portLimits.keptMs - 1);
    expect(await outcome('right')).toBe('right');
    expect(checked).toEqual(['right']);
    right.delete('right');
    await clock.advance(1);
    expect(await outcome('right')).toBe(401);
    expect(checked).toEqual(['right', 'right']);
  });

  test('needs a token in the header', async () => {
    const { gate, checked } = openGate();
    for (const header of [
      null,
      '',
      'Bearer',
      'Bearer ',
      'Basic right',
      'Bearer two words',
      `Bearer ${'x'.repeat(513)}`,
    ]) {
      expect(await gate.admit(header, 'x').catch((error: unknown) => error)).toMatchObject({ code: 'E_CLUSTER_TOKEN' });
    }
    expect(checked).toEqual([]);
  });

  test('lets each wrong token make the next check of its address slower, up to a bound', async () => {
    const { outcome, clock, checked, warnings } = openGate();
    expect(await outcome('wrong0')).toBe(401);
    const slow = outcome('right');
    await clock.advance(portLimits.slowMs - 1);
    expect(checked).toEqual(['wrong0']);
    await clock.advance(1);
    expect(await slow).toBe('right');
    expect(await outcome('elsewhere', '10.0.0.2')).toBe(401);
    for (let n = 1; n < 100; n++) {
      const wrong = outcome(`wrong${n}`);
      await clock.advance(portLimits.slowestMs);
      expect(await wrong).toBe(401);
    }
    expect(checked).toHaveLength(102);
    expect(warnings.map((line) => line.replace(' to the control port.', ''))).toEqual([
      '10.0.0.1 sent a wrong token',
      '10.0.0.2 sent a wrong token',
      '10.0.0.1 sent 10 wrong tokens',
      '10.0.0.1 sent 100 wrong tokens',
    ]);
    await clock.advance(portLimits.strikeMs);
    expect(await outcome('wrong')).toBe(401);
    expect(clock.pending).toBe(0);
  });

  test('never lets a right token wait that was checked before', async () => {
    const { outcome } = openGate();
    expect(await outcome('right')).toBe('right');
    for (let n = 0; n < 5; n++) void outcome(`wrong${n}`);
    expect(await outcome('right')).toBe('right');
  });

  test('checks a bounded number of tokens at a time, of all addresses and of one', async () => {
    const { outcome, clock, checked } = openGate({ mostChecks: 5, mostChecksOfAddress: 2 });
    await outcome('wrong');
    await outcome('wrong', '10.0.0.2');
    await outcome('wrong', '10.0.0.3');
    const ofOne = Array.from({ length: 10 }, (_, n) => outcome(`a${n}`));
    const ofOthers = Array.from({ length: 10 }, (_, n) => outcome(`b${n}`, n % 2 === 0 ? '10.0.0.2' : '10.0.0.3'));
    await clock.advance(portLimits.slowestMs);
    const refused = (outcomes: readonly unknown[]) => outcomes.filter((each) => each === 429).length;
    expect(refused(await Promise.all(ofOne))).toBe(8);
    expect(refused(await Promise.all(ofOthers))).toBe(7);
    expect(checked).toHaveLength(8);
    expect(await outcome('right', '10.0.0.4')).toBe('right');
  });

  test('counts the checks of an address that still run after another one has ended', async () => {
    const { outcome, clock } = openGate({ mostChecksOfAddress: 2 });
    await outcome('wrong');
    const first = outcome('right');
    await clock.advance(1);
    const others = [outcome('a')];
    await clock.advance(portLimits.slowMs - 1);
    expect(await first).toBe('right');
    others.push(outcome('b'), outcome('c'));
    await clock.advance(portLimits.slowestMs);
    expect(await Promise.all(others)).toEqual([401, 401, 429]);
  });

  test('lets a right token of another address through while many addresses send wrong ones', async () => {
    const { outcome, clock, checked } = openGate({ mostChecks: 4, mostChecksOfAddress: 2 });
    const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'];
    for (const from of addresses) await outcome('wrong', from);
    const storm = addresses.flatMap((from) => [1, 2, 3].map((n) => outcome(`${from} ${n}`.replace(' ', '-'), from)));
    expect(await outcome('right', '10.0.0.9')).toBe('right');
    expect(checked.at(-1)).toBe('right');
    await clock.advance(portLimits.slowestMs);
    expect((await Promise.all(storm)).filter((each) => each === 429)).toHaveLength(8);
  });

  test('checks a token that was right again at once, while its address sends wrong ones', async () => {
    const { outcome, clock, right, checked } = openGate({ mostChecksOfAddress: 2 });
    expect(await outcome('right')).toBe('right');
    for (let n = 0; n < 5; n++) {
      const wrong = outcome(`wrong${n}`);
      await clock.advance(portLimits.slowestMs);
      await wrong;
    }
    const storm = [1, 2, 3].map((n) => outcome(`more${n}`));
    expect(await outcome('right')).toBe('right');
    expect(checked.filter((token) => token === 'right')).toHaveLength(2);
    right.delete('right');
    await clock.advance(portLimits.keptMs);
    await Promise.all(storm);
    expect(await outcome('right')).toBe(401);
    // From now on, it is a wrong token like any other.
    const later = outcome('right');
    await clock.advance(portLimits.slowMs);
    expect(checked.filter((token) => token === 'right')).toHaveLength(3);
    await clock.advance(portLimits.slowestMs);
    expect(await later).toBe(401);
  });

  test('keeps a bounded number of tokens and addresses', async () => {
    const { outcome, checked, right, warnings } = openGate({ mostKept: 2, mostAddresses: 2 });
    for (const token of ['a', 'b', 'c']) right.add(token);
    for (const token of ['a', 'b', 'c', 'c', 'b', 'a']) expect(await outcome(token)).toBe(token);
    expect(checked).toEqual(['a', 'b', 'c', 'a']);
    for (const from of ['1', '2', '3', '1']) expect(await outcome('wrong', from)).toBe(401);
    expect(warnings).toHaveLength(4);
  });

  test('passes on that the store is away, and counts nothing then', async () => {
    const { outcome, fail, warnings } = openGate();
    fail(new GoondanError('E_STORE_AWAY', 'It is away.'));
    expect(await outcome('right')).toBe(503);
    fail();
    expect(await outcome('right')).toBe('right');
    expect(warnings).toEqual([]);
  });
});
