import { describe, expect, test } from 'bun:test';
import { manualClock } from '../../testing/manual-clock.ts';
import { TokenStreams } from './token-streams.ts';

function open() {
  const clock = manualClock();
  const asked: string[] = [];
  const removed = new Set<string>();
  let isAway = false;
  const streams = new TokenStreams({
    clock,
    everyMs: 10,
    isRight: async (header) => {
      asked.push(header);
      if (isAway) throw new Error('away');
      return !removed.has(header);
    },
  });
  const closed: string[] = [];
  const add = (header: string) => streams.of(header).add(() => closed.push(header));
  return { clock, asked, removed, streams, closed, add, setAway: (now: boolean) => void (isAway = now) };
}

describe('the streams of tokens', () => {
  test('are ended when their token was removed, and not while the store is away', async () => {
    const { clock, removed, closed, add, setAway } = open();
    add('a');
    add('b');
    removed.add('a');
    setAway(true);
    await clock.advance(10);
    expect(closed).toEqual([]);
    setAway(false);
    await clock.advance(10);
    expect(closed).toEqual(['a']);
  });

  test('ask for tokens with open streams only, and leave no timer behind', async () => {
    const { clock, asked, streams, add } = open();
    streams.of('not used');
    streams.of('answered').add(() => undefined)();
    const end = add('a');
    await clock.advance(30);
    expect(asked).toEqual(['a', 'a', 'a']);
    end();
    await clock.advance(10);
    expect(clock.pending).toBe(0);
    add('a');
    streams.closeAll();
    expect(clock.pending).toBe(0);
  });

  test('can be opened long after the token was admitted', async () => {
    const { clock, streams, closed } = open();
    const slow = streams.of('a');
    streams.of('a').add(() => undefined)();
    await clock.advance(100);
    slow.add(() => closed.push('a'));
    expect(closed).toEqual([]);
    expect(clock.pending).toBe(1);
    streams.closeAll();
    expect(closed).toEqual(['a']);
  });

  test('are all ended with the port, also those that come later', () => {
    const { streams, closed, add } = open();
    add('a');
    streams.closeAll();
    add('b');
    expect(closed).toEqual(['a', 'b']);
  });
});
