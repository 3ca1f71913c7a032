import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  planSlots,
  type ProcessCondition,
  refuseWhenLineFull,
  type SlotDemand,
  type SlotHolder,
  type SlotPlan,
} from './process-slots.ts';

const holder = (key: string, condition: ProcessCondition, idleSince?: number): SlotHolder => ({
  key,
  condition,
  ...(idleSince === undefined ? {} : { idleSince }),
});

/** Plans the slots, and leaves out `leave` when it is empty. */
function planned(demand: SlotDemand): Omit<SlotPlan, 'leave'> & Partial<SlotPlan> {
  const { leave, ...rest } = planSlots(demand);
  return leave.length === 0 ? rest : { ...rest, leave };
}

const plan = (holders: SlotHolder[], line: string[], maxProcesses: number, awaited: string[] = [], held?: string[]) =>
  planned({
    holders,
    line: new Set(line),
    maxProcesses,
    isAwaited: (key) => awaited.includes(key),
    ...(held === undefined ? {} : { isHeld: (key) => held.includes(key) }),
  });

describe('the slots', () => {
  test('R-01 a free slot goes to the first in line', () => {
    expect(plan([holder('a', 'working')], ['b', 'c', 'd'], 3)).toEqual({ start: ['b', 'c'], hibernate: [] });
  });

  test('idle processes make room for the rest of the line', () => {
    const holders = [holder('a', 'idle', 1), holder('b', 'working')];
    expect(plan(holders, ['x', 'y'], 3)).toEqual({ start: ['x'], hibernate: ['a'] });
    expect(plan([...holders, holder('c', 'stopping')], ['x', 'y'], 4)).toEqual({ start: ['x'], hibernate: [] });
  });

  test('an empty line changes nothing', () => {
    expect(plan([holder('a', 'idle', 1), holder('b', 'idle', 2)], [], 1)).toEqual({ start: [], hibernate: [] });
  });

  test('the longest idle hibernates first, and no more than the line needs', () => {
    const holders = [holder('a', 'idle', 30), holder('b', 'working'), holder('c', 'idle', 10), holder('d', 'idle', 20)];
    expect(plan(holders, ['x'], 4)).toEqual({ start: [], hibernate: ['c'] });
    expect(plan(holders, ['x', 'y'], 4)).toEqual({ start: [], hibernate: ['c', 'd'] });
    expect(plan(holders, ['x', 'y', 'z', 'w'], 4)).toEqual({ start: [], hibernate: ['c', 'd', 'a'] });
  });

  test('a process that is ending already makes room, so no other has to end', () => {
    expect(plan([holder('a', 'stopping'), holder('b', 'idle', 1)], ['x'], 2)).toEqual({ start: [], hibernate: [] });
  });

  test('processes beyond the limit make no room for the line', () => {
    const holders = [holder('a', 'working'), holder('b', 'idle', 1), holder('c', 'idle', 2)];
    expect(plan(holders, ['x'], 2)).toEqual({ start: [], hibernate: ['b', 'c'] });
  });

  test('A-05 callers that hold all slots do not block their callee: it starts beyond the limit', () => {
    const callers = [holder('a', 'waiting'), holder('b', 'waiting')];
    expect(plan(callers, ['root', 'callee', 'other'], 2, ['callee', 'other']).start).toEqual(['callee']);
  });

  test('no start beyond the limit while another process can continue', () => {
    for (const condition of ['starting', 'working', 'stopping'] as const) {
      expect(plan([holder('a', 'waiting'), holder('b', condition)], ['callee'], 2, ['callee']).start).toEqual([]);
    }
    expect(plan([holder('a', 'waiting'), holder('b', 'idle', 0)], ['callee'], 2, ['callee'])).toEqual({
      start: [],
      hibernate: ['b'],
    });
  });

  test('no start beyond the limit for an instance that is not awaited', () => {
    expect(plan([holder('a', 'waiting')], ['root'], 1).start).toEqual([]);
  });

  test('an instance that waits for people goes after all others, and gives its slot to them', () => {
    const holders = [holder('a', 'held'), holder('b', 'idle', 1), holder('c', 'held')];
    // Idle processes hibernate first. If these are not enough, processes that wait for people leave their turns.
    expect(plan(holders, ['x'], 3, [], [])).toEqual({ start: [], hibernate: ['b'] });
    expect(plan(holders, ['x', 'y'], 3, [], [])).toEqual({ start: [], hibernate: ['b'], leave: ['a'] });
    expect(plan([...holders, holder('d', 'stopping')], ['x', 'y'], 4, [], [])).toEqual({ start: [], hibernate: ['b'] });
    // For an instance that itself waits for people, only idle processes hibernate.
    expect(plan(holders, ['p'], 3, [], ['p'])).toEqual({ start: [], hibernate: ['b'] });
    expect(plan([holder('a', 'held')], ['p'], 1, [], ['p'])).toEqual({ start: [], hibernate: [] });
    expect(plan([], ['p', 'x', 'y'], 2, [], ['p'])).toEqual({ start: ['x', 'y'], hibernate: [] });
    expect(plan([], ['p', 'x'], 2, [], ['p'])).toEqual({ start: ['x', 'p'], hibernate: [] });
  });

  test('an awaited instance that waits for people does not start beyond the limit', () => {
    expect(plan([holder('a', 'waiting')], ['p'], 1, ['p'], ['p']).start).toEqual([]);
    expect(plan([holder('a', 'waiting')], ['p'], 1, ['p'], []).start).toEqual(['p']);
  });

  test('a full line rejects with a code', () => {
    expect(() => refuseWhenLineFull(9, 10)).not.toThrow();
    expect(() => refuseWhenLineFull(10, 10)).toThrow(expect.objectContaining({ code: 'E_PROCESSES_FULL' }));
  });

  test('a plan keeps the order of the line and the limit, and ends only idle processes, then held ones', () => {
    const conditions = fc.constantFrom<ProcessCondition>('starting', 'working', 'waiting', 'held', 'idle', 'stopping');
    const holders = fc.array(fc.record({ condition: conditions, idleSince: fc.nat(9) }), { maxLength: 12 });
    fc.assert(
      fc.property(holders, fc.nat(8), fc.integer({ min: 1, max: 10 }), fc.nat(255), (some, waiting, most, awaited) => {
        const all = some.map(({ condition, idleSince }, index) => holder(`h${index}`, condition, idleSince));
        const line = Array.from({ length: waiting }, (_, index) => `w${index}`);
        const awaitedKeys = line.filter((_, index) => (awaited >> index) % 2 === 1);
        const { start, hibernate, leave = [] } = plan(all, line, most, awaitedKeys);
        const isBeyond = all.length + start.length > Math.max(most, all.length);
        if (isBeyond) {
          expect(all.every(({ condition }) => condition === 'waiting')).toBe(true);
          expect(start).toEqual(awaitedKeys.slice(0, 1));
        } else {
          expect(start).toEqual(line.slice(0, Math.max(0, most - all.length)));
        }
        const idle = all.filter(({ condition }) => condition === 'idle');
        const chosen = idle.filter(({ key }) => hibernate.includes(key));
        expect(chosen.length).toBe(hibernate.length);
        const held = all.filter(({ condition }) => condition === 'held').map(({ key }) => key);
        expect(leave).toEqual(held.slice(0, leave.length));
        if (leave.length > 0) expect(chosen).toEqual(idle);
        const spared = idle.filter(({ key }) => !hibernate.includes(key));
        for (const { idleSince = 0 } of chosen) {
          expect(spared.every((other) => (other.idleSince ?? 0) >= idleSince)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
