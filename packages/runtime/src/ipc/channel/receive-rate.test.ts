import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ReceiveRate } from './receive-rate.ts';

const rates = { framesPerSecond: 1_000, bytesPerSecond: 100_000 };

describe('the rate of a channel', () => {
  test('lets a quarter of a second through at once, then asks to wait for the excess', () => {
    const rate = new ReceiveRate(rates, 0);
    expect(rate.take(250, 0, 0)).toBe(0);
    expect(rate.take(1, 0, 0)).toBe(1);
    expect(rate.take(9, 0, 0)).toBe(10);
    expect(rate.take(1, 0, 11)).toBe(0);
  });

  test('does not save up a long silence', () => {
    const rate = new ReceiveRate(rates, 0);
    expect(rate.take(251, 0, 3_600_000)).toBe(1);
    expect(rate.take(0, 25_100, 7_200_000)).toBe(1);
  });

  test('counts bytes as well as frames', () => {
    const rate = new ReceiveRate(rates, 0);
    expect(rate.take(1, 25_000, 0)).toBe(0);
    expect(rate.take(1, 50_000, 0)).toBe(500);
  });

  test('never lets more through than its rate and one burst, however the frames come', () => {
    const arrivals = fc.array(fc.record({ pause: fc.nat(50), frames: fc.integer({ min: 1, max: 40 }) }), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(arrivals, (list) => {
        const rate = new ReceiveRate(rates, 0);
        let now = 0;
        let taken = 0;
        for (const { pause, frames } of list) {
          now += pause;
          taken += frames;
          now += rate.take(frames, 0, now);
          expect(taken).toBeLessThanOrEqual(250 + now + 1e-6);
        }
      }),
    );
  });

  test('tolerates a clock that goes back', () => {
    const rate = new ReceiveRate(rates, 1_000);
    expect(rate.take(1, 0, 0)).toBe(0);
    expect(rate.take(260, 0, 0)).toBe(11);
  });
});
