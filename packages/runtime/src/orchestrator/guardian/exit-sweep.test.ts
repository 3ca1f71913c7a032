import { describe, expect, test } from 'bun:test';
import { manualClock } from '../../testing/manual-clock.ts';
import { ExitSweep } from './exit-sweep.ts';
import { newTag, type ProcessTag } from './process-tag.ts';

/** A sweep over processes that exist only in the test. `left`: how many processes carry each tag. */
function sweeping(left = new Map<ProcessTag, number>()) {
  const clock = manualClock();
  const scans: number[] = [];
  let isSlow = false;
  const goOn: (() => void)[] = [];
  const sweep = new ExitSweep({
    clock,
    async findTags(tags) {
      scans.push(tags.size);
      if (isSlow) await new Promise<void>((resolve) => goOn.push(resolve));
      return new Set([...tags].filter((tag) => left.has(tag)));
    },
    endTagged: async (tag) => left.get(tag) ?? 0,
  });
  return { clock, scans, sweep, slowDown: () => void (isSlow = true), goOn: () => goOn.shift()?.() };
}

const tags = (count: number) => Array.from({ length: count }, () => newTag('GOONDAN_CHILD'));

describe('the sweep after exits', () => {
  test('looks at once for one exit, and ends only what that child left behind', async () => {
    const [one, two, three] = tags(3) as [ProcessTag, ProcessTag, ProcessTag];
    const { sweep, scans } = sweeping(new Map([[two, 4]]));
    expect(await sweep.endRest(one)).toBe(0);
    expect(await Promise.all([sweep.endRest(two), sweep.endRest(three)])).toEqual([4, 0]);
    expect(scans).toEqual([1, 2]);
  });

  test('reads the processes of the machine once for fifty exits during a scan', async () => {
    const { sweep, scans, slowDown, goOn } = sweeping();
    slowDown();
    const [first, ...others] = tags(51) as [ProcessTag, ...ProcessTag[]];
    const ended = [sweep.endRest(first)];
    await Bun.sleep(0);
    for (const tag of others) ended.push(sweep.endRest(tag));
    goOn();
    await ended[0];
    await Bun.sleep(0);
    goOn();
    await Promise.all(ended);
    expect(scans).toEqual([1, 50]);
  });

  test('begins at most two scans within 100 ms, however many exit, and loses no exit', async () => {
    const { sweep, scans, clock } = sweeping();
    const ended: Promise<number>[] = [];
    for (const tag of tags(300)) {
      ended.push(sweep.endRest(tag));
      await clock.advance(1);
    }
    await clock.advance(100);
    await Promise.all(ended);
    expect(scans.length).toBeLessThanOrEqual(8);
    expect(scans.reduce((sum, count) => sum + count, 0)).toBe(300);
  });

  test('rejects when the processes cannot be read, and goes on with the next exit', async () => {
    const clock = manualClock();
    let isBroken = true;
    const sweep = new ExitSweep({
      clock,
      async findTags() {
        if (isBroken) throw new Error('no /proc');
        return new Set();
      },
    });
    const [one, two] = tags(2) as [ProcessTag, ProcessTag];
    expect(await sweep.endRest(one).catch(String)).toBe('Error: no /proc');
    isBroken = false;
    expect(await sweep.endRest(two)).toBe(0);
  });
});
