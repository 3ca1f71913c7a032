import { describe, expect, test } from 'bun:test';
import type { TurnEnd } from '../../control/swarm.ts';
import { TurnWaiters } from './turn-waiters.ts';

const at = { agentName: 'a', instanceKey: 'k' };
const endOf = (eventId: string): TurnEnd => ({
  agent: 'a',
  instanceKey: 'k',
  eventId,
  traceId: 't',
  result: { turnId: `turn-${eventId}`, finishReason: 'text_response' },
  stepCount: 1,
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
});
const outcome = (end: Promise<TurnEnd>) =>
  Promise.race([end.then(({ eventId }) => eventId).catch((error: unknown) => error), Bun.sleep(1).then(() => 'waits')]);

describe('a caller that waits for a turn', () => {
  test('gets the end of that turn at that instance, like all its callers', async () => {
    const waiters = new TurnWaiters();
    const [one, two] = [waiters.wait(at, '1'), waiters.wait(at, '1')];
    const other = waiters.wait(at, '2');
    const elsewhere = waiters.wait({ ...at, instanceKey: 'other' }, '1');
    waiters.ended(at, endOf('1'));
    expect(await outcome(one.end)).toBe('1');
    expect(await outcome(two.end)).toBe('1');
    expect(await outcome(other.end)).toBe('waits');
    expect(await outcome(elsewhere.end)).toBe('waits');
  });

  test('gets an error when its instance cannot start, or the swarm ends', async () => {
    const waiters = new TurnWaiters();
    const [one, two] = [waiters.wait(at, '1'), waiters.wait({ ...at, agentName: 'b' }, '2')];
    waiters.failed(at, 'no start');
    expect(await outcome(one.end)).toBe('no start');
    expect(await outcome(two.end)).toBe('waits');
    waiters.failAll('over');
    expect(await outcome(two.end)).toBe('over');
    expect(await outcome(waiters.wait(at, '3').end)).toBe('over');
  });

  test('may stop waiting, and makes room for others', async () => {
    const waiters = new TurnWaiters();
    const all = Array.from({ length: 10_000 }, (_, index) => waiters.wait(at, String(index)));
    expect(() => waiters.wait(at, 'more')).toThrow(expect.objectContaining({ code: 'E_CALLS_FULL' }));
    all[0]?.forget();
    all[0]?.forget();
    const more = waiters.wait(at, 'more');
    expect(() => waiters.wait(at, 'one too many')).toThrow('10000 callers');
    waiters.ended(at, endOf('more'));
    expect(await outcome(more.end)).toBe('more');
    more.forget();
    waiters.wait(at, 'again');
    expect(() => waiters.wait(at, 'one too many')).toThrow('10000 callers');
  });
});
