import { describe, expect, test } from 'bun:test';
import { manualClock } from '../../testing/manual-clock.ts';
import { WarmSpare } from './warm-spare.ts';

const policy = { quickCrashes: 2, baseMs: 1_000, maxMs: 10_000, healthyMs: 60_000 };

function openSpare(spawnFails: () => boolean = () => false, size = 1) {
  const clock = manualClock();
  const children: { exit: () => void; exited: Promise<void>; kills: number[]; kill(graceMs: number): Promise<void> }[] =
    [];
  const spare = new WarmSpare(
    () => {
      if (spawnFails()) throw new Error('no more');
      const { promise, resolve } = Promise.withResolvers<void>();
      const kills: number[] = [];
      const child = {
        exit: resolve,
        exited: promise,
        kills,
        kill: async (graceMs: number) => {
          kills.push(graceMs);
          resolve();
        },
      };
      children.push(child);
      return child;
    },
    policy,
    clock,
    size,
  );
  return { spare, children, clock };
}

describe('a warm spare', () => {
  test('exists once, however often it is requested', () => {
    const { spare, children } = openSpare();
    spare.fill();
    spare.fill();
    expect(children).toHaveLength(1);
  });

  test('is one of several, which are started one after the other and given away oldest first', async () => {
    const { spare, children, clock } = openSpare(undefined, 3);
    spare.fill();
    expect(children).toHaveLength(1);
    for (const count of [2, 3, 3]) {
      await clock.advance(100);
      expect(children).toHaveLength(count);
    }
    expect([spare.take(), spare.take()]).toEqual([children[0], children[1]] as never);
    await clock.advance(1_000);
    expect(children).toHaveLength(5);
    await spare.close();
    expect(children.map(({ kills }) => kills.length)).toEqual([0, 0, 1, 1, 1]);
  });

  test('waits while processes start that found none, but not longer than a second', async () => {
    const { spare, children, clock } = openSpare();
    spare.fill();
    spare.take();
    await clock.advance(90);
    expect(spare.take()).toBeUndefined();
    await clock.advance(90);
    expect(children).toHaveLength(1);
    await clock.advance(10);
    expect(children).toHaveLength(2);

    spare.take();
    for (let passed = 0; passed < 950; passed += 50) {
      expect(spare.take()).toBeUndefined();
      await clock.advance(50);
    }
    expect(children).toHaveLength(2);
    expect(spare.take()).toBeUndefined();
    await clock.advance(50);
    expect(children).toHaveLength(3);
  });

  test('is given away once, and replaced after a while', async () => {
    const { spare, children, clock } = openSpare();
    spare.fill();
    expect(spare.take()).toBe(children[0] as never);
    expect(spare.take()).toBeUndefined();
    expect(children).toHaveLength(1);
    await clock.advance(100);
    expect(children).toHaveLength(2);
    expect(spare.take()).toBe(children[1] as never);
  });

  test('is replaced when it dies, with the backoff from the second time on', async () => {
    const { spare, children, clock } = openSpare();
    spare.fill();
    children[0]?.exit();
    await clock.advance(100);
    expect(children).toHaveLength(2);
    children[1]?.exit();
    await clock.advance(999);
    expect(children).toHaveLength(2);
    await clock.advance(200);
    expect(children).toHaveLength(3);
  });

  test('may die after it was given away without a second replacement', async () => {
    const { spare, children, clock } = openSpare();
    spare.fill();
    spare.take();
    children[0]?.exit();
    await clock.advance(5_000);
    expect(children).toHaveLength(2);
  });

  test('is tried again with the backoff when it cannot be started', async () => {
    let attempts = 0;
    const { spare, clock } = openSpare(() => {
      attempts++;
      return true;
    });
    spare.fill();
    await clock.advance(900);
    expect(attempts).toBe(2);
    expect(spare.take()).toBeUndefined();
    await clock.advance(1_000);
    expect(attempts).toBe(3);
  });

  test('is ended with the swarm, and not replaced', async () => {
    const { spare, children, clock } = openSpare();
    spare.fill();
    await spare.close();
    expect(children[0]?.kills).toEqual([0]);
    spare.fill();
    await clock.advance(10_000);
    expect(children).toHaveLength(1);
  });
});
