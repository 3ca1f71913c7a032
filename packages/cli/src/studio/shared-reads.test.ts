import { describe, expect, test } from 'bun:test';
import { SharedReads } from './shared-reads.ts';

/** Creates reads that end only when the test says so. */
function heldReads() {
  const held: PromiseWithResolvers<string>[] = [];
  const read = () => {
    const one = Promise.withResolvers<string>();
    held.push(one);
    return one.promise;
  };
  return { held, read };
}

const settled = () => Bun.sleep(0);

describe('reads', () => {
  test('equal requests share a running read; a later one starts a new read', async () => {
    const reads = new SharedReads();
    const { held, read } = heldReads();
    const first = reads.run('a', read);
    const second = reads.run('a', read);
    expect(held).toHaveLength(1);
    held[0]?.resolve('once');
    expect(await Promise.all([first, second])).toEqual(['once', 'once']);
    const third = reads.run('a', read);
    expect(held).toHaveLength(2);
    held[1]?.resolve('again');
    expect(await third).toBe('again');
  });

  test('four run at once, others wait for their turn', async () => {
    const reads = new SharedReads();
    const { held, read } = heldReads();
    const all = Array.from({ length: 6 }, (_, index) => reads.run(`${index}`, read));
    await settled();
    expect(held).toHaveLength(4);
    held[1]?.resolve('x');
    await all[1];
    await settled();
    expect(held).toHaveLength(5);
    held[0]?.reject(new Error('damaged'));
    expect(await all[0]?.catch((error: unknown) => error)).toEqual(new Error('damaged'));
    await settled();
    expect(held).toHaveLength(6);
    for (const one of held) one.resolve('x');
    await Promise.all(all.slice(1));
    // All four slots are free again.
    const next = Array.from({ length: 4 }, (_, index) => reads.run(`next ${index}`, read));
    await settled();
    expect(held).toHaveLength(10);
    for (const one of held) one.resolve('x');
    await Promise.all(next);
  });

  test('64 may wait; one more is rejected', async () => {
    const reads = new SharedReads();
    const { held, read } = heldReads();
    const all = Array.from({ length: 68 }, (_, index) => reads.run(`${index}`, read));
    await settled();
    expect(() => reads.run('one more', read)).toThrow(expect.objectContaining({ code: 'E_STUDIO_BUSY' }));
    // A request that shares a running read needs no slot of its own.
    const shared = reads.run('3', read);
    const ending = setInterval(() => held.forEach((one) => one.resolve('x')), 1);
    try {
      expect(await Promise.all([...all, shared])).toHaveLength(69);
    } finally {
      clearInterval(ending);
    }
  });
});
