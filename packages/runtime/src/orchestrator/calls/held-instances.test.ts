import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';
import { HeldInstances } from './held-instances.ts';

const at = (agentName: string): AgentAddress => ({ agentName, instanceKey: 'default' });

/** `a` waits for `b`, `b` and `d` for `c`. */
function open() {
  const world = {
    asking: [] as string[],
    callers: { b: ['a'], c: ['b', 'd'] } as Record<string, string[]>,
    asleep: [] as string[],
    requests: [] as string[],
    told: [] as string[],
  };
  const held = new HeldInstances({
    asking: () => world.asking.map(at),
    callersOf: ({ agentName }) => (world.callers[agentName] ?? []).map(at),
    holdRequests: (keys) => {
      world.requests = ['a', 'b', 'c', 'd'].filter((name) => keys.has(addressKey(at(name))));
    },
    tell({ agentName }, isHeld) {
      if (world.asleep.includes(agentName)) return false;
      world.told.push(`${agentName} ${isHeld}`);
      return true;
    },
  });
  const update = () => {
    world.told = [];
    held.waitsChanged();
    return world.told.toSorted();
  };
  return { world, held, update };
}

describe('those who wait for people', () => {
  test('are nobody, as long as nobody asks', () => {
    const { world, held, update } = open();
    expect([update(), world.requests, held.has(at('a'))]).toEqual([[], [], false]);
  });

  test('are whoever asks, and all who wait for them; those are told, once', () => {
    const { world, held, update } = open();
    world.asking = ['c'];
    expect(update()).toEqual(['a true', 'b true', 'd true']);
    expect(world.requests).toEqual(['a', 'b', 'c', 'd']);
    expect(held.has(at('a'))).toBe(true);
    expect(update()).toEqual([]);
    world.callers = { b: ['a'], c: ['d'] };
    expect(update()).toEqual(['a false', 'b false']);
    world.asking = [];
    expect(update()).toEqual(['d false']);
    expect(world.requests).toEqual([]);
  });

  test('one that asks itself as well is told when only the others do', () => {
    const { world, update } = open();
    world.asking = ['c', 'b'];
    expect(update()).toEqual(['a true', 'd true']);
    world.asking = ['c'];
    expect(update()).toEqual(['b true']);
    world.asking = ['c', 'b'];
    expect(update()).toEqual(['b false']);
  });

  test('one whose process is gone, or not there, is told when it is', () => {
    const { world, held, update } = open();
    world.asking = ['c'];
    world.asleep = ['d'];
    expect(update()).toEqual(['a true', 'b true']);
    held.processGone(at('a'));
    world.asleep = [];
    expect(update()).toEqual(['a true', 'd true']);
  });
});
