import { describe, expect, test } from 'bun:test';
import type { AgentAddress } from '@goondan/types';
import { addressKey } from '../address/address-key.ts';
import { HeldInstances } from './held-instances.ts';

const at = (agentName: string): AgentAddress => ({ agentName, instanceKey: 'default' });

/** Creates a world in which `a` waits for `b`, and both `b` and `d` wait for `c`. */
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

describe('held instances', () => {
  test('are none while no approval is asked', () => {
    const { world, held, update } = open();
    expect([update(), world.requests, held.has(at('a'))]).toEqual([[], [], false]);
  });

  test('are the asking instance and all that wait for it; the latter are told once', () => {
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

  test('are told when others ask and they no longer ask themselves', () => {
    const { world, update } = open();
    world.asking = ['c', 'b'];
    expect(update()).toEqual(['a true', 'd true']);
    world.asking = ['c'];
    expect(update()).toEqual(['b true']);
    world.asking = ['c', 'b'];
    expect(update()).toEqual(['b false']);
  });

  test('without a process are told when they have one', () => {
    const { world, held, update } = open();
    world.asking = ['c'];
    world.asleep = ['d'];
    expect(update()).toEqual(['a true', 'b true']);
    held.processGone(at('a'));
    world.asleep = [];
    expect(update()).toEqual(['a true', 'd true']);
  });
});
