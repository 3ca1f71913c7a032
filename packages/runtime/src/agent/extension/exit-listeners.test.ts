import { afterEach, describe, expect, test } from 'bun:test';
import { collectExitListeners } from './exit-listeners.ts';

const before = process.listeners('beforeExit');
const added = () => process.listeners('beforeExit').filter((listener) => !before.includes(listener));
afterEach(() => {
  for (const listener of added()) process.off('beforeExit', listener as () => void);
});

describe('beforeExit listeners', () => {
  test('X-17 are removed from the process, in their order, when an extension added them while it registered', async () => {
    const ran: string[] = [];
    process.on('beforeExit', () => ran.push('not ours'));
    const listeners = collectExitListeners();
    process.on('beforeExit', () => ran.push('first'));
    // The docs show async listeners, although Node's type of a listener returns void.
    const second: () => unknown = async () => {
      await Bun.sleep(1);
      ran.push('second');
    };
    process.once('beforeExit', second);
    const collected = listeners.collected();
    process.on('beforeExit', () => ran.push("the next extension's"));

    const cleanups = collected.takeOff();
    expect(added()).toHaveLength(2);
    for (const cleanup of cleanups) await cleanup();
    expect(ran).toEqual(['first', 'second']);
  });

  test('X-17 are called as the process would call them', () => {
    const calls: { self: unknown; args: unknown[] }[] = [];
    const listeners = collectExitListeners();
    process.on('beforeExit', function (this: unknown, ...args: unknown[]) {
      calls.push({ self: this, args });
    });
    for (const cleanup of listeners.collected().takeOff()) void cleanup();
    expect(calls).toEqual([{ self: process, args: [0] }]);
  });

  test('are not called when the extension has removed them itself, and are called once for each time added', async () => {
    const ran: string[] = [];
    const same = () => void ran.push('same');
    process.on('beforeExit', same);
    const listeners = collectExitListeners();
    process.on('beforeExit', same);
    const removed = () => void ran.push('removed');
    process.on('beforeExit', removed);
    const collected = listeners.collected();
    process.off('beforeExit', removed);
    for (const cleanup of collected.takeOff()) await cleanup();
    expect(ran).toEqual(['same']);
    expect(added()).toEqual([same]);
  });

  test('are an empty list for an extension without any', () => {
    expect(collectExitListeners().collected().takeOff()).toEqual([]);
  });
});
