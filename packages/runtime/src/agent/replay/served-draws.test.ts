import { describe, expect, test } from 'bun:test';
import { ServedDraws } from './served-draws.ts';

const never = (): never => {
  throw new Error('nothing is drawn');
};

describe('served draws', () => {
  test('are the recorded ones, each kind in its order, in any mix of kinds', () => {
    const draws = new ServedDraws(
      [
        ['now', 5],
        ['uuid', 'a'],
        ['now', 9],
        ['bytes', '01'],
      ],
      1,
      's',
    );
    expect(draws.draw('uuid', never)).toBe('a');
    expect([draws.draw('now', never), draws.draw('now', never)]).toEqual([5, 9]);
    expect(draws.draw('bytes', never)).toBe('01');
  });

  test('after the recorded ones continue the clock, and give random values that depend only on the seed', () => {
    const draw = (seed: string) => {
      const draws = new ServedDraws([['now', 5]], 1, seed);
      const now = [draws.draw('now', never), draws.draw('now', never), draws.draw('now', never)];
      const uuid = draws.draw('uuid', never);
      return {
        now,
        elapsed: draws.draw('elapsed', never),
        uuid,
        random: draws.draw('random', never),
        bytes: draws.draw('bytes', () => 'ffffffff'),
      };
    };
    const drawn = draw('one');
    expect(drawn.now).toEqual([5, 6, 7]);
    expect(drawn.uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(drawn.random).toBeWithin(0, 1);
    expect(drawn.bytes).toMatch(/^[0-9a-f]{8}$/);
    expect(draw('one')).toEqual(drawn);
    expect(draw('two')).not.toEqual(drawn);
  });

  test('start the clock at the layer’s start for a layer without recorded draws', () => {
    expect(new ServedDraws([], 1_000, '').draw('now', never)).toBe(1_001);
  });
});
