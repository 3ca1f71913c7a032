import { describe, expect, test } from 'bun:test';
import type { ProcessCondition } from '../supervision/process-slots.ts';
import { slotsOf } from './slot-holders.ts';

const shared = {};

function holdersOf(...conditions: readonly ProcessCondition[]) {
  return slotsOf(conditions.map((condition, index) => ({ key: `${index}`, condition, shared }))).holders;
}

describe('the slot of a shared process', () => {
  test('is one, whatever the number of its conversations; other processes have a slot each', () => {
    const { holders, membersOf } = slotsOf([
      { key: 'own', condition: 'working' },
      { key: 'a', condition: 'idle', idleSince: 5, shared },
      { key: 'b', condition: 'idle', idleSince: 9, shared },
      { key: 'c', condition: 'working', shared: {} },
    ]);
    expect(holders).toEqual([
      { key: 'own', condition: 'working' },
      { key: 'a', condition: 'idle', idleSince: 9 },
      { key: 'c', condition: 'working' },
    ]);
    expect(membersOf('a').map(({ key }) => key)).toEqual(['a', 'b']);
    expect(membersOf('own').map(({ key }) => key)).toEqual(['own']);
  });

  test('is free for others only when no conversation works', () => {
    expect(holdersOf('idle', 'working', 'waiting')).toMatchObject([{ condition: 'working' }]);
    expect(holdersOf('idle', 'waiting', 'held')).toMatchObject([{ condition: 'waiting' }]);
    expect(holdersOf('idle', 'held', 'stopping')).toMatchObject([{ condition: 'held' }]);
    expect(holdersOf('idle', 'stopping')).toMatchObject([{ condition: 'idle' }]);
    expect(holdersOf('stopping')).toMatchObject([{ condition: 'stopping' }]);
  });
});
