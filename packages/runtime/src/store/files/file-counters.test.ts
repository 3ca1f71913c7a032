import { expect, test } from 'bun:test';
import { systemClock } from '../../ports/clock.ts';
import { fileCounters } from './file-counters.ts';

const instance = { agentName: 'coder', instanceKey: 'one' };
const call = { id: 'a', claims: [{ counter: 'a', window: 'ever', amount: 1, limit: 5 }] } as const;

test('Y-04 a node that has lost its workspace neither reserves nor begins a call, and raises nothing', async () => {
  let isLost = false;
  const check = () => {
    if (isLost) throw new Error('lost');
  };
  const saved: unknown[] = [];
  const save = async (changed: Iterable<unknown>) => void saved.push(...changed);
  const counters = fileCounters({
    clock: systemClock,
    placement: { check },
    file: { save },
    states: [],
    warn: () => undefined,
  });
  await counters.reserve(instance, call);
  isLost = true;
  expect(counters.reserve(instance, { ...call, id: 'b' })).rejects.toThrow('lost');
  expect(counters.begin(instance, [call])).rejects.toThrow('lost');
  expect(counters.raise({ counter: 'a', window: 'ever' }, 9)).rejects.toThrow('lost');
  expect(saved).toEqual([]);
});
