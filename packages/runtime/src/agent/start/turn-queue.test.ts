import { describe, expect, test } from 'bun:test';
import { TurnQueue } from './turn-queue.ts';

describe('the queue of turns', () => {
  test('R-02 runs one at a time, in the order asked', async () => {
    const queue = new TurnQueue(10);
    const said: string[] = [];
    const turn = (name: string, ms: number) =>
      queue.run(async () => {
        said.push(`${name} begins`);
        await Bun.sleep(ms);
        said.push(`${name} ends`);
        return name;
      });
    expect(await Promise.all([turn('slow', 5), turn('quick', 0), turn('last', 1)])).toEqual(['slow', 'quick', 'last']);
    expect(said).toEqual(['slow begins', 'slow ends', 'quick begins', 'quick ends', 'last begins', 'last ends']);
  });

  test('R-02 a turn that fails does not affect the others', async () => {
    const queue = new TurnQueue(10);
    const failed = queue.run(() => Promise.reject(new Error('broken')));
    const next = queue.run(async () => 'fine');
    expect(await failed.catch((error: unknown) => error)).toEqual(new Error('broken'));
    expect(await next).toBe('fine');
  });

  test('A-08 refuses with a code when too many wait, and accepts more when some are done', async () => {
    const queue = new TurnQueue(2);
    const gate = Promise.withResolvers<void>();
    const running = queue.run(() => gate.promise);
    const waiting = queue.run(async () => 'waited');
    const refused = queue.run(async () => 'never');
    expect(await refused.catch((error: unknown) => error)).toMatchObject({
      code: 'E_INBOX_FULL',
      message: '2 events are waiting already.',
    });
    gate.resolve();
    await running;
    expect(await waiting).toBe('waited');
    expect(await queue.run(async () => 'again')).toBe('again');
  });

  test('is idle when nothing runs or waits', async () => {
    const queue = new TurnQueue(10);
    const said: string[] = [];
    await queue.idle();
    const gate = Promise.withResolvers<void>();
    void queue.run(() => gate.promise);
    void queue.run(async () => said.push('second'));
    const idle = queue.idle().then(() => said.push('idle'));
    await Bun.sleep(1);
    expect(said).toEqual([]);
    gate.resolve();
    await idle;
    expect(said).toEqual(['second', 'idle']);
  });
});
