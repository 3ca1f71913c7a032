import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import type { CounterWindow } from '../../counters/claim.ts';
import type { CounterState } from '../../counters/counter-state.ts';
import { fileCounters } from './file-counters.ts';

const at = { agentName: 'a', instanceKey: 'default' };
const call = (id: string, window: CounterWindow, counter = 'c') => ({
  ...{ id, isBegun: true },
  claims: [{ counter, window, amount: 1, limit: 1 }],
});

function open(check = () => undefined as void) {
  const saved: (readonly [string, CounterState | undefined])[] = [];
  let [elapsed, isFull] = [0, false];
  const clock = { now: () => new Date(elapsed), elapsed: () => elapsed, after: () => () => undefined };
  const file = {
    async save(changed: Iterable<readonly [string, CounterState | undefined]>) {
      if (isFull) throw new GoondanError('E_DISK_FULL', 'The disk is full.');
      saved.push(...changed);
    },
  };
  const counters = fileCounters({ clock, placement: { check }, file, states: [], warn: () => undefined });
  return {
    counters,
    saved,
    advance: (ms: number) => void (elapsed += ms),
    setFull: (to: boolean) => void (isFull = to),
  };
}

test('Y-04 a reservation that could not be written is not held', async () => {
  const { counters, setFull } = open();
  setFull(true);
  expect(counters.reserve(at, call('a', 'ever'))).rejects.toMatchObject({ code: 'E_DISK_FULL' });
  setFull(false);
  expect(await counters.reserve(at, call('b', 'ever'))).toMatchObject({ status: 'reserved' });
});

test('Y-07 limits of a model need no disk', async () => {
  const { counters, setFull } = open();
  setFull(true);
  expect(await counters.reserve(at, call('a', 'call'))).toMatchObject({ status: 'reserved' });
});

test('the counter of a day that is over leaves the file, and others are not written for it', async () => {
  const { counters, saved, advance } = open();
  for (const window of ['day', 'minute'] as const) {
    await counters.reserve(at, call(window, window, window));
    await counters.settle(call(window, window, window), [1]);
  }
  expect(saved.map(([counter]) => counter)).toEqual(['day', 'day']);
  advance(2 * 86_400_000);
  await counters.reserve(at, call('next', 'call', 'other'));
  expect(saved.slice(2)).toEqual([['day', undefined]]);
});

test('Y-04 a node that has lost its workspace neither reserves nor begins a call, and raises nothing', async () => {
  let isLost = false;
  const { counters, saved } = open(() => {
    if (isLost) throw new Error('lost');
  });
  const made = { id: 'a', claims: [{ counter: 'a', window: 'ever', amount: 1, limit: 5 }] } as const;
  await counters.reserve(at, made);
  isLost = true;
  expect(counters.reserve(at, { ...made, id: 'b' })).rejects.toThrow('lost');
  expect(counters.begin(at, [made])).rejects.toThrow('lost');
  expect(counters.raise({ counter: 'a', window: 'ever' }, 9)).rejects.toThrow('lost');
  expect(saved).toEqual([]);
});
