import { describe, expect, test } from 'bun:test';
import { defaultIdlePolicy, judgeIdle } from './idle.ts';

const nothing = { isRunning: false, pending: 0, idleSince: 1_000 };

describe('an idle process', () => {
  test('hibernates after 300 s without work', () => {
    expect(judgeIdle(defaultIdlePolicy, nothing, 300_999)).toEqual({ type: 'refetch', at: 301_000 });
    expect(judgeIdle(defaultIdlePolicy, nothing, 301_000)).toEqual({ type: 'hibernate' });
  });

  test('stays while a turn runs or an event waits', () => {
    expect(judgeIdle(defaultIdlePolicy, { ...nothing, isRunning: true }, 1e9)).toEqual({ type: 'stay' });
    expect(judgeIdle(defaultIdlePolicy, { ...nothing, pending: 1 }, 1e9)).toEqual({ type: 'stay' });
  });

  test('stays without a configured time', () => {
    expect(judgeIdle({ hibernateAfterSeconds: undefined }, nothing, 1e9)).toEqual({ type: 'stay' });
  });

  test('hibernates at once when the time is 0', () => {
    expect(judgeIdle({ hibernateAfterSeconds: 0 }, nothing, 1_000)).toEqual({ type: 'hibernate' });
  });
});
